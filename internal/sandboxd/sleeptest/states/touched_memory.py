block = os.urandom(1 << 20)
memory = bytearray(block * 300)
# asleep
all(memory[i << 20:(i + 1) << 20] == block for i in range(300)) and len(memory) == 300 << 20
