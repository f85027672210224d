# Clones a repository and checks one commit out. It is given to sh -c with
#
#   checkout URL DIR HOW REF DEPTH SUBMODULES LFS
#
# as its arguments, all of which were looked at before; git's settings come by
# the environment. HOW says what REF is: "clone" a branch, a tag, or nothing for
# the default branch; "fetch" a ref by its full name; "commit" a whole object
# name; "guess" what may be a part of one. DEPTH is empty for the whole history;
# SUBMODULES and LFS are "yes" or empty.
#
# What people read goes to stderr. stdout has nothing but the lines that
# ParseCheckout describes. It exits with git's own code, or one of these:

no_git=101 not_empty=102 no_ref=103 no_commits=104 no_lfs=105 submodules_failed=106

set -uf
url=$1 dir=$2 how=$3 ref=$4 depth=$5 submodules=$6 lfs=$7

# What git starts prints for people, whatever it is; fd 3 is ours alone.
exec 3>&1 1>&2

tell() { printf '%s\n' "$1" >&3; }
run() { git "$@" 3>&-; }

# long is for what may take its time: the shell heeds a signal meanwhile.
long() {
	"$@" 3>&- &
	child=$!
	wait "$child"
}
child=

# give_up takes away what was made, so that the next try finds the place empty.
give_up() {
	cd /
	find "$dir" -mindepth 1 -maxdepth 1 -exec rm -rf -- {} + 2>/dev/null
	[ -z "$made" ] || rmdir -- "$dir" 2>/dev/null
	exit "$1"
}

refuse() {
	printf 'fatal: %s\n' "$2" >&2
	exit "$1"
}

is_empty_directory() {
	[ -d "$dir" ] && [ ! -L "$dir" ] && [ -z "$(find "$dir" -mindepth 1 -maxdepth 1 | head -n 1)" ]
}

clone() {
	long git clone --progress --template= --origin=origin \
		${depth:+"--depth=$depth"} ${1:+"--branch=$1"} -- "$url" "$dir"
}

begin() {
	run init --quiet --template= -- "$dir" && cd "$dir" && run remote add -- origin "$url"
}

fetch() { long git fetch --progress ${depth:+"--depth=$depth"} -- origin "$1"; }

# Not every server gives a commit by its name, and none knows a part of one.
fetch_all() {
	printf 'Looking for %s in the whole history\n' "$ref"
	long git fetch --progress --tags -- origin '+refs/heads/*:refs/remotes/origin/*'
}

check_out() {
	commit=$(run rev-parse --verify --quiet --end-of-options "$1^{commit}") || return $no_ref
	long git checkout --progress --detach "$commit" --
}

get() {
	case $how in
	clone) clone "$ref" ;;
	fetch) begin && fetch "$ref" && check_out FETCH_HEAD ;;
	commit) begin && { fetch "$ref" || fetch_all; } && check_out "$ref" ;;
	guess) clone "$ref" || { begin && fetch_all && check_out "$ref"; } ;;
	esac
}

get_submodules() {
	long git submodule update --init --recursive --progress ${depth:+"--depth=$depth"}
}

# git-lfs fills in nothing where its filters are not set.
lfs_here='git lfs install --local --skip-repo && git lfs pull'
get_lfs() {
	long sh -c "$lfs_here" || return
	[ -z "$submodules" ] || long git submodule --quiet foreach --recursive "$lfs_here"
}

# count_pointers says how many files are left as pointers to what LFS keeps. It
# looks at blobs by their names, so that what files are called does not matter,
# and at small ones alone.
count_pointers() {
	run ls-files -s -- "$kept_by_lfs" | cut -d ' ' -f 2 |
		run cat-file --batch-check='%(objectsize) %(objectname)' |
		while read -r size name; do
			[ "$size" -gt 1024 ] || printf '%s\n' "$name"
		done |
		run cat-file --batch | grep -a -c '^version https://git-lfs.github.com/spec/v1$'
}
kept_by_lfs=':(attr:filter=lfs)'

command -v git >/dev/null || refuse $no_git 'there is no git in this sandbox'
[ -z "$lfs" ] || run lfs version >/dev/null 2>&1 || refuse $no_lfs 'there is no git-lfs in this sandbox'

made=
if [ ! -e "$dir" ] && [ ! -L "$dir" ]; then
	made=yes
elif ! is_empty_directory; then
	refuse $not_empty 'the target is there already and is no empty directory'
fi

# From here on what is in the target is ours to take away, and the client's if this
# is killed.
tell begun
trap 'trap "" TERM; [ -z "$child" ] || kill "$child"; give_up 143' TERM

get || give_up $?
cd "$dir" || give_up $?
commit=$(run rev-parse --verify --quiet 'HEAD^{commit}') || give_up $no_commits

if [ -n "$submodules" ]; then
	get_submodules || give_up $submodules_failed
elif [ -e .gitmodules ]; then
	tell 'warning submodules_left_out The repository has submodules, which were not asked for'
fi

if [ -n "$lfs" ]; then
	get_lfs || give_up $?
elif run ls-files -- "$kept_by_lfs" | grep -q .; then
	pointers=$(count_pointers)
	[ "$pointers" = 0 ] || tell "warning lfs_pointers Files that are Git LFS pointers in place of their content: $pointers"
fi

tell "commit $commit"
read -r head <.git/HEAD
[ "${head#ref: refs/heads/}" = "$head" ] || tell "branch ${head#ref: refs/heads/}"
