#!/bin/sh
# Says in one sentence when Go is missing or older than a module asks for:
# check-go.sh MODULE-FOLDER
set -eu

wanted=$(sed -n 's/^go //p' "$1/go.mod")

if ! command -v go >/dev/null; then
	echo "Go $wanted or newer is needed, and there is no go on the PATH." >&2
	exit 1
fi

# Inside the module go may switch to a newer release that it fetches.
found=$(cd "$1" && go env GOVERSION 2>/dev/null) || found=$(GOTOOLCHAIN=local go env GOVERSION)
if ! printf 'go%s\n%s\n' "$wanted" "$found" | sort -VC; then
	echo "Go $wanted or newer is needed, and this machine has $found." >&2
	exit 1
fi
