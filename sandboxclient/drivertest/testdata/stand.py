# Offers whatever a neighbour could find, until it is told to end.
import socket
import time

marker = "neighbour-marker"
KEY = 7777
for folder in "/workspace", "/tmp", "/dev/shm", "/home/sandbox":
    with open(folder + "/secret", "w") as f:
        f.write(marker)
tcp = socket.create_server(("127.0.0.1", KEY))
six = socket.create_server(("::1", KEY), family=socket.AF_INET6)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", KEY))
listening = []
for name in "\0neighbour", "/workspace/socket", "/tmp/socket":
    s = socket.socket(socket.AF_UNIX)
    s.bind(name)
    s.listen()
    listening.append(s)
call("shmget", KEY, 4096, 0o1666)
call("semget", KEY, 1, 0o1666)
call("msgget", KEY, 0o1666)
with open("/workspace/stands", "w") as f:
    f.write("%d" % os.getpid())
while not os.path.exists("/workspace/end"):
    try:
        udp.settimeout(0.05)
        data, address = udp.recvfrom(100)
        udp.sendto(data, address)
    except TimeoutError:
        pass
