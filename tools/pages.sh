#!/bin/sh
# Builds the pages from web/ into internal/webui/dist, from where the gateway
# embeds them. Without a Node that can, the gateway is built without its pages,
# which it tells its visitors.
set -eu

cd "$(dirname "$0")/../web"

can_build() {
	command -v npm >/dev/null &&
		node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}

if ! can_build; then
	echo "The pages need Node 20.19 or newer with npm; the gateway is built without them." >&2
	[ "${CI-}" != true ]
	exit
fi

# npm ci takes a while; the lock file's copy says that it is done.
if ! cmp -s package-lock.json node_modules/.installed; then
	echo "fetching what the pages are built from"
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	cp package-lock.json node_modules/.installed
fi
echo "building the pages"
npm run --silent build -- --logLevel warn
