ended = subprocess.Popen(["true"])
until(lambda: open(f"/proc/{ended.pid}/stat").read().rpartition(")")[2].split()[0] == "Z")
# asleep
ended.wait() == 0
