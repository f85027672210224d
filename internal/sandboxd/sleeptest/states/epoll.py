poll = select.epoll()
reader, writer = os.pipe()
poll.register(reader, select.EPOLLIN)
# asleep
os.write(writer, b"x")
poll.poll(60) == [(reader, select.EPOLLIN)]
