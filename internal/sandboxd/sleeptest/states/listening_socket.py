listener = socket.create_server(("127.0.0.1", 0))
# asleep
def answer():
    conn, _ = listener.accept()
    conn.sendall(b"here")
    conn.close()

threading.Thread(target=answer).start()
socket.create_connection(listener.getsockname(), timeout=60).recv(4) == b"here"
