package command

import (
	"os"
	"time"
)

// pipes are a command's standard streams.
type pipes struct {
	stdin, stdout, stderr *os.File
	theirs                []*os.File // 0, 1 and 2 of the program
}

func openPipes() (*pipes, error) {
	p := new(pipes)
	var err error
	open := func(read, write **os.File) {
		if err == nil {
			*read, *write, err = os.Pipe()
		}
	}
	p.theirs = make([]*os.File, 3)
	open(&p.theirs[0], &p.stdin)
	open(&p.stdout, &p.theirs[1])
	open(&p.stderr, &p.theirs[2])
	if err != nil {
		p.closeTheirs()
		p.closeOurs()
		return nil, err
	}
	return p, nil
}

// feed writes all of the input, or as much of it as the program takes.
func (p *pipes) feed(input []byte) {
	defer p.stdin.Close()
	if len(input) > 0 {
		_, _ = p.stdin.Write(input)
	}
}

// drain bounds what is still read and written: the program is gone.
func (p *pipes) drain() {
	p.stdin.Close()
	deadline := time.Now().Add(drain)
	_ = p.stdout.SetReadDeadline(deadline)
	_ = p.stderr.SetReadDeadline(deadline)
}

func (p *pipes) closeTheirs() { closeFiles(p.theirs...) }

func (p *pipes) closeOurs() { closeFiles(p.stdin, p.stdout, p.stderr) }

// closeFiles closes those that are open; a nil file only says that it is not.
func closeFiles(files ...*os.File) {
	for _, f := range files {
		f.Close()
	}
}
