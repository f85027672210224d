#!/bin/sh
# Builds bin/runsc: runsc.sh VERSION, the pinned gVisor's with one line mended.
#
# This gVisor kills a guest process whose thread it cannot find to interrupt. It
# cannot find one that has only just started, or is between two of its steps, and
# on a busy machine there is time to look just then: now and then a process of
# many threads (npm, sandboxd itself) ended by SIGKILL or SIGSEGV for no reason.
# The mended line waits on, as gVisor did before; a thread that stays away for
# half a minute still ends its process.
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

file=$mended/source/pkg/sentry/platform/systrap/shared_context.go
given='if _, err := sc.interruptStub(); err != nil {'
wanted='if _, err := sc.interruptStub(); err != nil \&\& err != errNoStubThread {'
if [ "$(grep -cF "$given" "$file")" != 1 ]; then
	echo "tools/runsc.sh: the pinned gVisor has another text than the one to mend: see whether it still needs it" >&2
	exit 1
fi
sed -i "s/$(printf '%s' "$given" | sed 's/[][\.*^$/]/\\&/g')/$wanted/" "$file"
grep -qF 'err != errNoStubThread' "$file"

cp tools/runsc/go.mod tools/runsc/go.sum "$mended"
go mod edit -replace "gvisor.dev/gvisor=$mended/source" "$mended/go.mod"
tools/build.sh runsc tools/runsc gvisor.dev/gvisor/runsc -modfile "$mended/go.mod" \
	-ldflags "-s -w -X gvisor.dev/gvisor/runsc/version.version=$version"
