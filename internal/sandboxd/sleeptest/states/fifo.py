os.mkfifo("/workspace/fifo")
os.mkfifo("/tmp/fifo")
fifos = [os.open(path, os.O_RDWR) for path in ("/workspace/fifo", "/tmp/fifo")]
os.write(fifos[0], b"before")
# asleep
os.write(fifos[1], b"after")
os.read(fifos[0], 100) == b"before" and os.read(fifos[1], 100) == b"after"
