#!/bin/sh
# Builds one program into bin/: build.sh NAME MODULE-FOLDER PACKAGE [go build flags].
# It appears under its name only when it is complete, so that an interrupted
# build leaves no half program behind, and a running one can be replaced.
set -eu

name=$1 module=$2 package=$3
shift 3

cd "$(dirname "$0")/.."
tools/check-go.sh "$module"
mkdir -p bin

# Dated back to the start: what is edited during the build counts as newer.
started=$(date +%s.%N)
unfinished=$PWD/bin/.$name.$$
trap 'rm -f "$unfinished"' EXIT
trap 'exit 1' HUP INT TERM

echo "building bin/$name"
(cd "$module" && go build -buildvcs=false -trimpath "$@" -o "$unfinished" "$package")
touch -d "@$started" "$unfinished"
mv "$unfinished" "bin/$name"
