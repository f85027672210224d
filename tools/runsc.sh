#!/bin/sh
# Builds bin/runsc: runsc.sh VERSION, the pinned gVisor's with two lines mended,
# and with its system call filters compiled now rather than at each start, where
# they take some 40 ms.
#
# This gVisor kills a guest's process, and sandboxd is one, in two cases where
# nothing is wrong but the moment. Both come on busy machines, when threads start:
#
#  1. A thread is to be interrupted that has only just started, or is between two
#     of its steps, and so is not found. The mended line looks again a little later.
#  2. The kernel is asked for the next request of a process's helper thread, and
#     says ENOENT, which it does now and then after that thread was interrupted:
#     by a stop and continuation of its process, or when a laptop wakes up. The
#     mended line asks again, as with EINTR.
set -eu

version=$1
cd "$(dirname "$0")/.."
tools/check-go.sh tools/runsc
mkdir -p bin
mended=$(mktemp -d "$PWD/bin/.gvisor.XXXXXX")
trap 'rm -rf "$mended"' EXIT
trap 'exit 1' HUP INT TERM

(cd tools/runsc && go mod download gvisor.dev/gvisor)
source=$(cd tools/runsc && go list -m -f '{{.Dir}}' gvisor.dev/gvisor)
mkdir "$mended/source"
cp -R "$source/." "$mended/source"
chmod -R u+w "$mended/source"

# mend FILE GIVEN WANTED replaces what must be there exactly once.
mend() {
	file=$mended/source/$1
	if [ "$(grep -cF "$2" "$file")" != 1 ]; then
		echo "tools/runsc.sh: the pinned gVisor has another text than the one to mend in $1: see whether it still needs it" >&2
		exit 1
	fi
	GIVEN=$2 WANTED=$3 awk '
		at = index($0, ENVIRON["GIVEN"]) {
			$0 = substr($0, 1, at - 1) ENVIRON["WANTED"] substr($0, at + length(ENVIRON["GIVEN"]))
		}
		{ print }' "$file" >"$file.mended"
	mv "$file.mended" "$file"
}

mend pkg/sentry/platform/systrap/shared_context.go \
	'if _, err := sc.interruptStub(); err != nil {' \
	'if _, err := sc.interruptStub(); err == errNoStubThread { continue } else if err != nil {'
mend pkg/sentry/platform/systrap/syscall_thread_unsafe.go \
	'if errno == unix.EINTR && t.subproc.alive() {' \
	'if (errno == unix.EINTR || errno == unix.ENOENT) && t.subproc.alive() {'

cp tools/runsc/go.mod tools/runsc/go.sum "$mended"
go mod edit -replace "gvisor.dev/gvisor=$mended/source" "$mended/go.mod"

# filters WHOSE PACKAGE compiles the filters of a part of gVisor into its package.
filters() {
	(cd tools/runsc && go run -buildvcs=false -trimpath -modfile "$mended/go.mod" ./filters "$1") \
		>"$mended/source/$2/rendered.go"
	mend "$2/filter_precompiled.go" \
		'programs := make(map[string]precompiledseccomp.Program)' \
		'programs := renderedPrograms()'
}

echo "compiling gVisor's filters"
filters sentry runsc/boot/filter
filters gofer runsc/fsgofer/filter

tools/build.sh runsc tools/runsc gvisor.dev/gvisor/runsc -modfile "$mended/go.mod" \
	-ldflags "-s -w -X gvisor.dev/gvisor/runsc/version.version=$version"
