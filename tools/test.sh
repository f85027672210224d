#!/bin/sh
# Every test: some seconds of fuzzing for each target, the pages in a browser,
# then the whole suite under the race detector, so that the last lines are those of go test. Nothing
# is taken from the cache of results: the sandboxes of a test are real.
set -eu

cd "$(dirname "$0")/.."
tools/check-go.sh .
tools/fuzz.sh "${FUZZ_SECONDS:-3}"
tools/browser.sh

echo "testing; the first time everything is compiled again for the race detector, some minutes"
CGO_ENABLED=1 go test -buildvcs=false -race -count=1 -timeout 45m ./...
