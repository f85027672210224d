locked = open("/workspace/lock", "w")
fcntl.flock(locked, fcntl.LOCK_EX)
# asleep
def refused():
    with open("/workspace/lock") as other:
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False

was_refused = refused()
fcntl.flock(locked, fcntl.LOCK_UN)
was_refused and not refused()
