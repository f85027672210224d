counter = subprocess.Popen(["/bin/sh", "-c", "n=0; while :; do n=$((n+1)); echo $n > /workspace/n.new; mv /workspace/n.new /workspace/n; sleep 0.01; done"])

def counted():
    with open("/workspace/n") as f:
        return int(f.read() or 0)

until(lambda: os.path.exists("/workspace/n") and counted() > 3)
counted_before = counted()
# asleep
first = counted()
goes_on = until(lambda: counted() > first)
counter.kill()
goes_on and first >= counted_before
