package kernel

import (
	"os"
)

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
	for _, end := range []**os.File{&ours.stdout, &ours.stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return ours, theirs, err
		}
		*end, theirs = r, append(theirs, w)
	}
	requests, w, err := os.Pipe()
	if err != nil {
		return ours, theirs, err
	}
	ours.requests, theirs = w, append(theirs, requests)
	r, replies, err := os.Pipe()
	if err != nil {
		return ours, theirs, err
	}
	ours.replies, theirs = r, append(theirs, replies)
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
