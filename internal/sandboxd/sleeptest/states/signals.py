import signal

heard = []
signal.signal(signal.SIGALRM, lambda *_: heard.append("alarm"))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
until(lambda: heard)
# asleep
heard.clear()
rings = until(lambda: heard)
signal.setitimer(signal.ITIMER_REAL, 0)
rings
