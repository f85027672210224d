os.makedirs("/workspace/watched", exist_ok=True)
IN_CREATE = 0x100
watch = libc.inotify_init1(0)
libc.inotify_add_watch(watch, b"/workspace/watched", IN_CREATE)
# asleep
open("/workspace/watched/new", "w").close()
ready, _, _ = select.select([watch], [], [], 60)
bool(ready) and b"new\0" in os.read(watch, 4096)
