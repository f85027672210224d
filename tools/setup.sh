#!/bin/sh
# Installs what the machine lacks: setup.sh run | runc | test | lint.
# Root gets it from apt; anybody else is told the one line to type. Nothing is
# asked of apt, nor of the network, when nothing is missing.
set -eu

missing=

# need PACKAGE COMMAND...: the package is missing when the command fails.
need() {
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}

have() { command -v "$1"; }

# Sandboxes run the interpreters of /usr, whatever the PATH says.
usr_has() { PATH=/usr/local/bin:/usr/bin command -v "$1"; }

python_has() {
	/usr/bin/python3 -c 'import sys, importlib.util as u; sys.exit(not u.find_spec(sys.argv[1]))' "$1"
}

for_run() {
	need python3 test -x /usr/bin/python3
	need e2fsprogs test -x /sbin/mkfs.ext4
	need npm have npm
}

for_runc() {
	need gcc have gcc
	need libc6-dev test -e /usr/include/stdlib.h
	need pkg-config have pkg-config
	need libseccomp-dev test -e /usr/include/seccomp.h
}

for_test() {
	for_run
	for_runc
	need git have git
	need python3-ipython python_has IPython
	need python3-numpy python_has numpy
	need python3-matplotlib python_has matplotlib
	need nodejs usr_has node
	need chromium have chromium
	need systemd have systemd-analyze
}

for_lint() {
	for_run
	need git have git
	need nodejs have node
	need shellcheck have shellcheck
}

# install takes the package lists as they are first: they are often good enough.
install() {
	export DEBIAN_FRONTEND=noninteractive
	set -- apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 "$@"
	"$@" >/dev/null 2>&1 && return
	apt-get update -qq -o DPkg::Lock::Timeout=120
	"$@" >/dev/null
}

case ${1-} in
run | runc | test | lint) "for_$1" ;;
*)
	echo "usage: setup.sh run | runc | test | lint" >&2
	exit 2
	;;
esac

if [ -z "$missing" ]; then
	exit
fi
if ! have apt-get >/dev/null; then
	echo "Missing here, by their Debian names:$missing" >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "Some packages are missing. Type: sudo apt-get install --no-install-recommends$missing" >&2
	exit 1
fi

echo "installing$missing"
# shellcheck disable=SC2086 # a list of package names
install $missing
