CLOCK_MONOTONIC = 1
timer = libc.timerfd_create(CLOCK_MONOTONIC, 0)
libc.timerfd_settime(timer, 0, struct.pack("4q", 0, 10_000_000, 0, 10_000_000), None)
event = libc.eventfd(5, 0)
# asleep
ready, _, _ = select.select([timer], [], [], 60)
bool(ready) and struct.unpack("q", os.read(event, 8)) == (5,)
