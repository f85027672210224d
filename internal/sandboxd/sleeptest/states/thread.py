asked, told = queue.Queue(), queue.Queue()
threading.Thread(target=lambda: told.put(asked.get() * 2), daemon=True).start()
# asleep
asked.put(21)
told.get(timeout=60) == 42
