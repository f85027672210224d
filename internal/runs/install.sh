# Installs by another package manager than npm: the sandbox's own, or else one
# that npx gets from the registry that npm is configured for. It is given to
# sh -c in the repository, with one argument: pnpm, yarn (its version 1) or berry
# (its later ones).

set -u
registry=${npm_config_registry:-}

here() { command -v "$1" >/dev/null; }

case $1 in
pnpm)
	# What packageManager asks for would be fetched with a signature that mirrors
	# do not have.
	export npm_config_manage_package_manager_versions=false
	if here pnpm; then exec pnpm install --frozen-lockfile; fi
	exec npx --yes pnpm@10 install --frozen-lockfile
	;;
yarn)
	if [ -n "$registry" ]; then export YARN_REGISTRY="$registry"; fi
	exec npx --yes --package=yarn@1 yarn install --frozen-lockfile
	;;
berry)
	if [ -n "$registry" ]; then export YARN_NPM_REGISTRY_SERVER="$registry"; fi
	# It does not know NO_PROXY. A registry on loopback is not behind the proxy.
	if [ -n "${HTTPS_PROXY:-}" ]; then export YARN_HTTPS_PROXY="$HTTPS_PROXY"; fi
	case $registry in
	http://127.0.0.1:*) ;;
	*) if [ -n "${HTTP_PROXY:-}" ]; then export YARN_HTTP_PROXY="$HTTP_PROXY"; fi ;;
	esac
	export YARN_IGNORE_PATH=1         # a Yarn that the repository brings may be any program
	export YARN_NODE_LINKER=node-modules # which npm test can use
	# Another version wants to write the lock file anew, and fails.
	version=$(node -p '/^yarn@(\d+\.\d+\.\d+)/.exec(require("./package.json").packageManager)?.[1] ?? "4"') || exit
	exec npx --yes --package="@yarnpkg/cli-dist@$version" yarn install --immutable
	;;
esac
