with socket.create_server(("127.0.0.1", 0)) as door:
    caller = socket.create_connection(door.getsockname(), timeout=60)
    called, _ = door.accept()
caller.sendall(b"before ")
pair = socket.socketpair()
pair[0].sendall(b"pair")
# asleep
caller.sendall(b"after")
called.settimeout(60)
called.recv(7) + called.recv(5) == b"before after" and pair[1].recv(4) == b"pair"
