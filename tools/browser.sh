#!/bin/sh
# Tries the pages in Chromium against bin/gateway. Pictures of every page are
# left in bin/screenshots.
set -eu

cd "$(dirname "$0")/../web"

missing=
[ "$(id -u)" -eq 0 ] || missing="root, as the gateway wants"
command -v chromium >/dev/null || missing="chromium"
[ -e ../internal/webui/dist/index.html ] || missing="the pages, which make build builds"
if [ -n "$missing" ]; then
	echo "The pages are not tried in a browser; what lacks is $missing." >&2
	[ "${CI-}" != true ]
	exit
fi

echo "trying the pages in a browser; pictures go to bin/screenshots"
npm run --silent browser
