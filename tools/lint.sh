#!/bin/sh
# Everything that can be said about the code without running it. All checks are
# made, then the failed ones are named.
set -eu

cd "$(dirname "$0")/.."
tools/check-go.sh .
# Kept with the clone, not in somebody's home.
export GOLANGCI_LINT_CACHE="$PWD/bin/.lint-cache"
failed=

# check NAME COMMAND...
check() {
	name=$1
	shift
	echo "lint: $name"
	"$@" || failed="$failed, $name"
}

sources() { git ls-files -z --deduplicate "$@"; }

formatted() {
	unformatted=$(sources '*.go' | xargs -0 gofmt -l)
	[ -z "$unformatted" ] || { echo "$unformatted" && false; }
}

tidy() {
	for module in . tools/*/go.mod; do
		(cd "${module%/go.mod}" && go mod tidy -diff) || return 1
	done
}

# What sandboxd and the gateway carry inside them, in other languages. Among what
# tests are made of, some is wrong on purpose.
embedded() {
	sources '*.py' | grep -zv /testdata/ | xargs -0r /usr/bin/python3 -c '
import ast, sys
for name in sys.argv[1:]:
    ast.parse(open(name, encoding="utf-8").read(), name)' || return 1
	sources 'internal/*.js' | grep -zv /testdata/ | xargs -0r -n 1 node --check || return 1
	sources 'internal/*.sh' 'sandboxclient/*.sh' | grep -zv /testdata/ | xargs -0r -n 1 bash -n
}

# The pages' types and tests. make build has fetched what they need.
pages() { (cd web && npm run --silent check && npm test --silent); }

scripts() { sources .ci/run 'tools/*.sh' | xargs -0 shellcheck; }

check gofmt formatted
check "go vet" go vet -buildvcs=false ./...
check golangci-lint bin/golangci-lint run --allow-serial-runners
check "go mod tidy" tidy
check "embedded programs" embedded
check shellcheck scripts
check pages pages

if [ -n "$failed" ]; then
	echo "lint found something: ${failed#, }" >&2
	exit 1
fi
echo "lint found nothing"
