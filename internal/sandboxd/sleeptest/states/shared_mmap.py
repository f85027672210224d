backing = open("/workspace/backing", "w+b")
backing.truncate(1 << 20)
mapping = mmap.mmap(backing.fileno(), 1 << 20)
mapping[:4] = b"kept"
private = mmap.mmap(backing.fileno(), 1 << 20, access=mmap.ACCESS_COPY)
private[4:8] = b"mine"
# asleep
mapping[4:8] = b"more"
mapping.flush()
open("/workspace/backing", "rb").read(8) == b"keptmore" and private[:8] == b"keptmine"
