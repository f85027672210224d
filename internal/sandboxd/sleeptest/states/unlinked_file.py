nameless = [open(path, "w+") for path in ("/workspace/nameless", "/tmp/nameless")]
for f in nameless:
    f.write("kept")
    f.flush()
    os.unlink(f.name)
# asleep
def reread(f):
    f.write(", and more")
    f.seek(0)
    return f.read()

[reread(f) for f in nameless] == ["kept, and more"] * 2
