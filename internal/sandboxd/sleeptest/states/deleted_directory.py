os.makedirs("/workspace/gone/below")
lost = subprocess.Popen(
    ["/bin/sh", "-c", "read line; echo $line; cd /workspace; pwd"], cwd="/workspace/gone/below",
    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
os.removedirs("/workspace/gone/below")
# asleep
lost.communicate(b"alive\n", timeout=60)[0] == b"alive\n/workspace\n"
