package e2e

// An attack is what one hostile cell does until it is ended.
type attack struct {
	name     string
	language string // or program: Python without an interpreter that is waiting for cells
	code     string
	proof    string // what it prints that tells of it doing its worst
	times    int    // and how often it must
}

// program is code that bash gives to a Python of its own.
const program = "program"

func (a attack) cell() (language, code string) {
	if a.language == program {
		return "bash", "python3 -u - <<'END'" + a.code + "\nEND\n"
	}
	return a.language, a.code
}

// attacks take what a sandbox can take, each in its own way.
var attacks = []attack{
	{"fork bomb in bash", "bash", `
bomb() { echo boom >&2; bomb | bomb & }
bomb
wait
sleep 60`, "boom", 100},

	{"fork bomb in Python", "python", `
import os, time
if os.fork() == 0:
    while True:
        try:
            os.fork()
            os.write(1, b"boom\n")
        except OSError: time.sleep(0.2)
time.sleep(60)`, "boom", 30},

	{"threads", program, `
import os, threading, time
for _ in range(3): os.fork()
try:
    while True: threading.Thread(target=time.sleep, args=(60,)).start()
except RuntimeError: print("refused")
time.sleep(60)`, "refused", 1},

	{"processors", program, `
import os
for _ in range(4): os.fork()
print("spins")
while True: pass`, "spins", 16},

	// A shell, since it is too small to be taken for the hog itself.
	{"memory", "bash", `
while :; do
	python3 -c "hog = []
while True: hog.append(b'x' * (4 << 20))"
	echo "ended $?"
done`, "ended 137", 1},

	{"mappings", program, `
import mmap, time
held = []
for _ in range(1000):
    held.append(mmap.mmap(-1, 1 << 30))
    held[-1][0] = held[-1][1 << 29] = 1
print("mapped")
time.sleep(60)`, "mapped", 1},

	{"files in memory", program, `
import os, time
for f in [os.open("/dev/shm/hog", os.O_RDWR | os.O_CREAT), os.memfd_create("hog")]:
    try:
        while os.fstat(f).st_size < 200 << 20: os.write(f, b"x" * (1 << 20))
    except OSError as e: print(f"refused {e.errno}")
time.sleep(60)`, "refused 28", 1},

	{"disk, by a file that grows", "bash", `
while :; do
    dd if=/dev/zero of=/workspace/hog bs=1M 2>&1 | grep -o 'No space'
    rm /workspace/hog
done`, "No space", 2},

	{"disk, by a file with holes", program, `
import os
f = os.open("/workspace/hog", os.O_RDWR | os.O_CREAT)
os.ftruncate(f, 1 << 40)
at = 0
try:
    while True: at += os.pwrite(f, b"x" * (1 << 20), 2 * at)
except OSError as e: print(f"refused {e.errno}")`, "refused 28", 1},

	{"a million small files", program, `
import os
try:
    for i in range(10**6): os.close(os.open("/workspace/%d" % i, os.O_CREAT))
except OSError as e: print(f"refused {e.errno}")`, "refused 28", 1},

	{"output", "bash", `yes xxxx >&2 & yes xxxx`, "xxxx", 10_000},

	{"descriptors", program, `
import os, time
for _ in range(2): os.fork()
try:
    while True: os.dup(0); os.open("/workspace", os.O_RDONLY); os.pipe()
except OSError as e: print(f"refused {e.errno}")
time.sleep(60)`, "refused 24", 4},

	{"sockets", program, `
import socket, time
held = [socket.create_server(("127.0.0.1", 0), backlog=4096)]
sent = 0
while sent < 300 << 20:
    held.append(socket.create_connection(held[0].getsockname()))
    held.append(held[0].accept()[0])
    held[-1].setblocking(False)
    try:
        while True: sent += held[-1].send(b"x" * (1 << 20))
    except BlockingIOError: print("full")
time.sleep(60)`, "full", 10},
}
