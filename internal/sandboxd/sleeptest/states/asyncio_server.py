import asyncio

loop = asyncio.new_event_loop()

async def echo(reader, writer):
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()

server = loop.run_until_complete(asyncio.start_server(echo, "127.0.0.1", 0))
serving = threading.Thread(target=loop.run_forever, daemon=True)
serving.start()
# asleep
with socket.create_connection(server.sockets[0].getsockname(), timeout=60) as call:
    call.sendall(b"hello\n")
    echoed = call.recv(6)
loop.call_soon_threadsafe(loop.stop)
serving.join()
echoed == b"hello\n"
