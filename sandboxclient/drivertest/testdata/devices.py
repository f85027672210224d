import stat

HARMLESS = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd", "stdin", "stdout", "stderr", "mqueue", "core", "console"}

for kind, mode in ("block", stat.S_IFBLK), ("character", stat.S_IFCHR):
    wall("making %s devices" % kind, lambda: (os.mkfifo("/workspace/fifo"), os.unlink("/workspace/fifo")), lambda: os.mknod("/workspace/device", mode | 0o666, os.makedev(8, 0)))
wall("devices that nobody needs", lambda: os.listdir("/dev"), lambda: absent([n for n in os.listdir("/dev") if n not in HARMLESS]))
for name in "mem", "kmem", "port", "kmsg", "kvm", "fuse", "net/tun", "loop-control", "loop0", "sda", "vda", "nvme0n1", "mapper/control", "vsock", "vhost-vsock", "dri/card0", "input/event0", "hpet", "rtc0", "snapshot", "userfaultfd", "btrfs-control", "uinput", "vfio/vfio":
    wall("/dev/" + name, lambda: write("/dev/null"), lambda: os.open("/dev/" + name, os.O_RDONLY))
wall("writing to the console", lambda: write("/dev/null"), lambda: write("/dev/console"))
wall("the terminal of somebody else", lambda: os.openpty(), lambda: os.open("/dev/pts/0", os.O_RDWR) if not os.listdir("/dev/pts") == ["ptmx"] else absent(0))
finish()
