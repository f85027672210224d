os.makedirs("/workspace/deep/er", exist_ok=True)
written = open("/workspace/deep/er/file", "w+")
written.write("half")
written.flush()
# asleep
written.write(" and half")
written.flush()
open("/workspace/deep/er/file").read() == "half and half"
