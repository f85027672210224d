package kernel

import "os"

// pipes are our ends of what connects us to a process.
type pipes struct {
	stdout, stderr    *os.File
	requests, replies *os.File
}

// newPipes gives our ends, and the process's descriptors from 0 on.
func newPipes() (ours pipes, theirs []*os.File, err error) {
	defer func() {
		if err != nil {
			ours.close()
			closeAll(theirs)
		}
	}()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return ours, theirs, err
	}
	theirs = append(theirs, null)
	for _, p := range []struct {
		ours   **os.File
		writes bool // at our end
	}{{&ours.stdout, false}, {&ours.stderr, false}, {&ours.requests, true}, {&ours.replies, false}} {
		our, their, err := os.Pipe()
		if err != nil {
			return ours, theirs, err
		}
		if p.writes {
			our, their = their, our
		}
		*p.ours, theirs = our, append(theirs, their)
	}
	return ours, theirs, nil
}

// close closes our ends; some may be closed already, or never opened.
func (p pipes) close() {
	closeAll([]*os.File{p.stdout, p.stderr, p.requests, p.replies})
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
