child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(b"before\n")
child.stdin.flush()
# asleep
child.stdin.write(b"after\n")
child.stdin.close()
child.stdout.read() == b"before\nafter\n" and child.wait() == 0
