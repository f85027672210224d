package archive

import (
	"archive/tar"
	"io"
)

const tarBlock = 512

// An ending watches a tar go by for the zeros that end it. Go's reader takes a
// tar that was cut between two entries for a whole one.
type ending struct {
	r     io.Reader
	read  int64
	zeros int64 // how many of the last bytes are
	from  int64 // where the entry that was read last ends
}

// Read implements io.Reader.
func (e *ending) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.read += int64(n)
	tail := n
	for tail > 0 && p[tail-1] == 0 {
		tail--
	}
	if tail > 0 {
		e.zeros = 0
	}
	e.zeros += int64(n - tail)
	return n, err
}

// entry reads what is left of an entry, and notes that it ends here.
func (e *ending) entry(t *tar.Reader) error {
	_, err := io.Copy(io.Discard, t)
	e.from = (e.read + tarBlock - 1) / tarBlock * tarBlock
	return err
}

// seen says whether there were zeros, and nothing else, behind the last entry.
func (e *ending) seen() bool {
	behind := e.read - e.from
	return behind >= tarBlock && e.zeros >= behind
}
