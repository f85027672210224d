package kernel

import (
	"os"

	"sandgate/sandboxclient/wire"
)

// fromReplies marks what came through the control channel; output is marked
// with the type of its events.
const fromReplies = "reply"

// incoming is something that a process has sent, or the end of one of its pipes.
type incoming struct {
	from  string
	chunk []byte
	reply *reply
	ended bool
}

// An intake brings the three pipes of a process together. One goroutine at a
// time receives from it: the cell that runs, or the collector between cells.
type intake struct {
	ch             chan incoming
	stdout, stderr *tap
	open           int  // pipes whose end has not been received
	lost           bool // the control channel's has
}

// newIntake starts a goroutine a pipe; each ends with its pipe, and once its
// end has been received.
func newIntake(stdout, stderr, replies *os.File, pid int) *intake {
	in := &intake{ch: make(chan incoming), open: 3}
	in.stdout = newTap(stdout, wire.EventStdout, in.ch)
	in.stderr = newTap(stderr, wire.EventStderr, in.ch)
	go in.stdout.read()
	go in.stderr.read()
	go readReplies(replies, pid, in.ch)
	return in
}

// note keeps count of ended pipes; every receiver calls it.
func (in *intake) note(got incoming) {
	if !got.ended {
		return
	}
	in.open--
	in.lost = in.lost || got.from == fromReplies
}

// drain hands on all output that was written before the call.
func (in *intake) drain(accept func(incoming)) {
	noted := func(got incoming) {
		in.note(got)
		accept(got)
	}
	in.stdout.drain(noted)
	in.stderr.drain(noted)
}
