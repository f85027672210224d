# Prints what the sandbox user sees, in sections, for checks.go to judge.
section() { printf '\n=== %s\n' "$1"; }
try() { if "$@" >/dev/null 2>&1; then echo yes; else echo no; fi; }

section status
cat /proc/self/status
section kernel
cat /proc/version
section init
cat /proc/1/comm
section interfaces
cat /proc/net/dev
section mounts
cat /proc/self/mounts
section usr-writable
try touch /usr/.sandgate-selftest
section workspace-writable
try touch /workspace/.selftest
section run-readable
try ls /run
section link-readable
try ls /run/sandgate
section token-readable
try cat /run/sandgate/token
section open-files
ulimit -n
section ulimits
ulimit -a
section memory
cat /proc/meminfo
section workspace-blocks
stat -f -c '%b %S' /workspace
section tmp-blocks
stat -f -c '%b %S' /tmp
