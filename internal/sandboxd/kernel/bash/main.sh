# The bash kernel. bash reads this first, as $BASH_ENV, and then the cells as
# its script: one line a cell, as bash.go writes it. The shell itself is the
# loop, so that a cell's break, return and trap end nothing of ours.
unset BASH_ENV
BASH_ARGV0=bash # what its messages begin with

# __sandgate_reply ID TYPE FIELDS: one frame for sandboxd.
__sandgate_reply() {
	builtin printf '{"id":%d,"pid":%d,"type":"%s"%s}\n' "$1" "$$" "$2" "$3" >&4
}

# __sandgate_begin ID STDIN: what is put back before a cell. An interrupt breaks
# the loops of the function that runs, and then, before their next command,
# those of its callers: a trap that a function takes away would come back with
# its return, so the script itself does that. Children are killed from outside.
__sandgate_begin() {
	__sandgate_id=$1 __sandgate_stdin=/dev/null
	trap 'trap "break 1000 2>/dev/null" DEBUG; break 1000 2>/dev/null' INT
	[[ -z $2 ]] && return
	__sandgate_stdin=$(command -p mktemp /tmp/.stdin-XXXXXX) &&
		builtin printf %s "$2" | command -p base64 -d >"$__sandgate_stdin"
}

# __sandgate_end STATUS: the cell has ended.
__sandgate_end() {
	trap : INT
	[[ $__sandgate_stdin == /dev/null ]] || command -p rm -f "$__sandgate_stdin"
	__sandgate_reply "$__sandgate_id" done ",\"exitCode\":$1"
}

trap : INT
__sandgate_reply 0 ready ',"engine":"bash '"$BASH_VERSION"'"'
