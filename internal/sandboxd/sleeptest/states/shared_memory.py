from multiprocessing import shared_memory

segment = shared_memory.SharedMemory(create=True, size=4096)
segment.buf[:4] = b"kept"
sealed = os.memfd_create("sealed")
os.write(sealed, b"kept too")
# asleep
again = shared_memory.SharedMemory(segment.name)
same = bytes(again.buf[:4]) == b"kept" and os.pread(sealed, 100, 0) == b"kept too"
again.close()
segment.close()
segment.unlink()
same
