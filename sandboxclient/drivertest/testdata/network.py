# Arguments: an address of the host's that is not loopback, ports of the host's
# that answer by TCP at all its addresses, at loopback, and by UDP; an abstract
# socket of the host's; a path of one.
import socket
import struct

address, everywhere, loopback, datagrams, abstract, path = sys.argv[1:]

PATIENCE = 1
ETH_ALL = socket.htons(3)


def tcp(host, port, family=socket.AF_INET):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(PATIENCE)
        s.connect((host, int(port)))
        return s.getpeername()


def own_tcp(host, family=socket.AF_INET):
    with socket.create_server((host, 0), family=family) as s:
        return tcp(host, s.getsockname()[1], family)


def udp(host, port, family=socket.AF_INET):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.settimeout(PATIENCE)
        s.sendto(b"ask", (host, int(port)))
        return s.recv(100)


def own_udp(host, family=socket.AF_INET):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.bind((host, 0))
        with socket.socket(family, socket.SOCK_DGRAM) as other:
            other.sendto(b"ask", s.getsockname())
        s.settimeout(PATIENCE)
        return s.recv(100)


def own_unix(name):
    with socket.socket(socket.AF_UNIX) as s, socket.socket(socket.AF_UNIX) as other:
        s.bind(name)
        s.listen()
        return other.connect(name)


def unix(name):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(PATIENCE)
        return s.connect(name)


def broadcast(host):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(PATIENCE)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        s.sendto(b"ask", (host, int(datagrams)))
        return s.recv(100)


def name(host):
    try:
        return socket.getaddrinfo(host, 80)
    except socket.gaierror as e:
        raise Refused(e.strerror) from None


def ping(host):
    """Echoes without a raw socket, which some systems let everybody do."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as s:
        s.settimeout(PATIENCE)
        s.sendto(bytes([8, 0, 0xF7, 0xFF, 0, 0, 0, 0]), (host, 0))
        return s.recv(100)


def machine(number):
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as s:
        s.settimeout(PATIENCE)
        return s.connect((number, 1024))


here = lambda: own_tcp("127.0.0.1")
wall("interfaces", lambda: {"lo": 1}[socket.if_nameindex()[0][1]], lambda: absent([n for _, n in socket.if_nameindex() if n != "lo"]))
wall("routes", lambda: read("/proc/net/dev"), lambda: absent(read("/proc/net/route").splitlines()[1:]))
wall("TCP to the host's loopback", here, lambda: tcp("127.0.0.1", loopback))
wall("TCP to the host's every address", here, lambda: tcp("127.0.0.1", everywhere))
wall("TCP to the host", here, lambda: tcp(address, everywhere))
wall("TCP to the outside", here, lambda: tcp("1.1.1.1", 443))
wall("TCP to a neighbour's network", here, lambda: tcp("10.0.0.1", 80))
wall("TCP to the cloud's metadata", here, lambda: tcp("169.254.169.254", 80))
wall("TCP by 0.0.0.0", here, lambda: tcp("0.0.0.0", everywhere))
wall("UDP to the host's loopback", lambda: own_udp("127.0.0.1"), lambda: udp("127.0.0.1", datagrams))
wall("UDP to the host", lambda: own_udp("127.0.0.1"), lambda: udp(address, datagrams))
wall("UDP to a resolver", lambda: own_udp("127.0.0.1"), lambda: udp("8.8.8.8", 53))
wall("UDP to everybody", lambda: own_udp("127.0.0.1"), lambda: broadcast("255.255.255.255"))
wall("UDP to a group", lambda: own_udp("127.0.0.1"), lambda: udp("224.0.0.251", 5353))
wall("names", lambda: socket.getaddrinfo("localhost", 80), lambda: name("example.com"))
wall("names of the cloud", lambda: socket.gethostbyname("localhost"), lambda: name("metadata.google.internal"))

six = lambda: own_tcp("::1", socket.AF_INET6)
wall("IPv6 to the host's loopback", six, lambda: tcp("::1", everywhere, socket.AF_INET6))
wall("IPv6 to the outside", six, lambda: tcp("2606:4700:4700::1111", 443, socket.AF_INET6))
wall("IPv6 to the link", six, lambda: tcp("fe80::1%lo", everywhere, socket.AF_INET6))
wall("IPv6 to the cloud's metadata", six, lambda: tcp("fd00:ec2::254", 80, socket.AF_INET6))
wall("IPv4 in IPv6", six, lambda: tcp("::ffff:127.0.0.1", everywhere, socket.AF_INET6))
wall("UDP by IPv6 to a resolver", lambda: own_udp("::1", socket.AF_INET6), lambda: udp("2001:4860:4860::8888", 53, socket.AF_INET6))

wall("abstract sockets of the host's", lambda: own_unix("\0own"), lambda: unix("\0" + abstract))
wall("sockets of the host's", lambda: own_unix("/tmp/own"), lambda: unix(path))
wall("the gateway's socket", lambda: own_unix("/workspace/own"), lambda: unix("/run/sandgate/s"))

wall("raw packets", here, lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
wall("raw packets of any kind", here, lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW))
wall("raw packets by IPv6", here, lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6))
wall("packets of the wire", here, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, ETH_ALL))
wall("packets of the wire without header", here, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, ETH_ALL))
wall("pinging the outside", here, lambda: ping("1.1.1.1"))
wall("pinging the host", here, lambda: ping(address))
wall("the machine around the host", here, lambda: machine(2))
wall("the host as a machine", here, lambda: machine(1))
FAMILIES = {"AX25": 3, "NETROM": 6, "X25": 9, "KEY": 15, "RDS": 21, "CAN": 29, "TIPC": 30, "BLUETOOTH": 31, "ALG": 38, "NFC": 39, "KCM": 41, "SMC": 43, "XDP": 44}
for family, number in FAMILIES.items():
    wall("sockets of " + family, here, lambda: socket.socket(number, socket.SOCK_RAW if family in ("KEY", "CAN", "XDP") else socket.SOCK_SEQPACKET if family in ("RDS", "ALG", "BLUETOOTH") else socket.SOCK_STREAM, {"KEY": 2, "CAN": 1}.get(family, 0)))


def change(kind, flags, payload):
    """Asks the kernel to change the network."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as s:
        s.settimeout(PATIENCE)
        s.send(struct.pack("=IHHII", 16 + len(payload), kind, flags | 5, 1, 0) + payload)
        answer = s.recv(4096)
    length, answered = struct.unpack_from("=IH", answer)
    code = struct.unpack_from("=i", answer, 16)[0] if answered == 2 else 0
    if code < 0:
        raise OSError(-code, "netlink")
    return answered


def own_address():
    index = struct.pack("=BBBBI", 2, 8, 0, 0, 1)
    return index + struct.pack("=HH4s", 8, 2, bytes([10, 9, 8, 7])) + struct.pack("=HH4s", 8, 1, bytes([10, 9, 8, 7]))


GETLINK, SETLINK, NEWLINK, NEWADDR, NEWROUTE, CREATE, DUMP = 18, 19, 16, 20, 24, 0x400, 0x300
look = lambda: change(GETLINK, DUMP, bytes(16))
wall("giving itself an address", look, lambda: change(NEWADDR, CREATE, own_address()))
wall("giving itself a route", look, lambda: change(NEWROUTE, CREATE, struct.pack("=BBBBBBBBI", 2, 0, 0, 0, 254, 3, 253, 1, 0) + struct.pack("=HHI", 8, 4, 1)))
wall("taking loopback down", look, lambda: change(NEWLINK, 0, struct.pack("=BBHiII", 0, 0, 0, 1, 0, 1)))
wall("giving itself an interface", look, lambda: change(NEWLINK, CREATE, bytes(16) + struct.pack("=HH4s", 8, 3, b"own\0") + struct.pack("=HHHH6s2x", 16, 18, 10, 1, b"dummy\0")))
finish()
