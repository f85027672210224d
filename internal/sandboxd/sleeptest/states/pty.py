master, slave = os.openpty()
shell = subprocess.Popen(["/bin/sh"], stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
# asleep
os.write(master, b"echo $((40 + 2))\n")
seen = b""
while b"42" not in seen:
    seen += os.read(master, 1000)
shell.kill()
shell.wait() != 0
