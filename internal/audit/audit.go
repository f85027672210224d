// Package audit writes down who did what: a JSON line for each request, with
// its outcome, and never with anything of its content. Of those that changed
// nothing only so many are written, and the others counted. A file that has grown to
// its size is kept under another name, and of those the newest.
package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"sandgate/internal/recent"
)

// An Entry is one line.
type Entry struct {
	Time    time.Time         `json:"time"`
	Request string            `json:"request,omitempty"` // its id, as in the log and the answer
	Remote  string            `json:"remote,omitempty"`
	Owner   string            `json:"owner,omitempty"` // whose things it was about; "": nobody was known
	By      string            `json:"by,omitempty"`    // the admin who looked at what is another's
	Key     string            `json:"key,omitempty"`   // the identifier of the key
	Action  string            `json:"action"`          // method and route
	App     string            `json:"app,omitempty"`
	Target  map[string]string `json:"target,omitempty"` // the sandbox, run or execution, and the id of what was made
	Outcome string            `json:"outcome"`          // ok, or the error's code
	Status  int               `json:"status,omitempty"`
	Dropped int               `json:"dropped,omitempty"` // entries that were left out before this one
	Minor   bool              `json:"-"`                 // it changed nothing, so that one of too many is left out
}

// Options say where a log is and how much of it is kept.
type Options struct {
	Path    string
	MaxSize int64 // of one file; 0: 64 MiB
	Keep    int   // files besides the one that is written; 0: 8
}

// How many entries a second are written of those whom nobody knows, and how many
// minor ones of what one key does with one app. They could push out what matters
// otherwise.
const (
	strangers      = 10
	strangersBurst = 100
	minors         = 2
	minorsBurst    = 200
	maxAccounts    = 4096 // that are counted
)

// An account is of what a key does with an app: whoever has a link of its owner
// takes from the account of links alone.
type account struct{ owner, key, app string }

func accountOf(e Entry) account {
	if e.Owner == "" {
		return account{} // all whom nobody knows, together
	}
	if e.By != "" { // or an admin had as many as there are names
		return account{e.By, e.Key, e.App}
	}
	return account{e.Owner, e.Key, e.App}
}

func newAllowance(a account) *rate.Limiter {
	if a.owner == "" {
		return rate.NewLimiter(strangers, strangersBurst)
	}
	return rate.NewLimiter(minors, minorsBurst)
}

// A Log is an open audit log. Its methods may be called from many goroutines.
type Log struct {
	opts Options

	mu      sync.Mutex
	file    *os.File
	size    int64
	torn    bool // the last line has no end
	dropped int
	allowed *recent.Map[account, *rate.Limiter]
}

// Open opens a log, which nobody but its owner may read, and goes on with what
// is there.
func Open(opts Options) (*Log, error) {
	if opts.MaxSize <= 0 {
		opts.MaxSize = 64 << 20
	}
	if opts.Keep <= 0 {
		opts.Keep = 8
	}
	l := &Log{opts: opts, allowed: recent.New[account, *rate.Limiter](maxAccounts)}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return l, nil
}

// Append adds one entry to a log that another process may be writing.
func Append(path string, e Entry) error {
	file, _, err := openFile(path)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	line, err := encode(e)
	if err == nil {
		_, err = file.Write(line)
	}
	return errors.Join(err, file.Close())
}

// Write adds an entry, unless it is one of too many that matter little.
func (l *Log) Write(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.allows(e) {
		l.dropped++
		return nil
	}
	e.Dropped = l.dropped
	line, err := encode(e)
	if err != nil {
		return err
	}
	if l.file == nil || l.size+int64(len(line)) > l.opts.MaxSize {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	if l.torn { // it would take this one along
		line = append([]byte{'\n'}, line...)
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	if n > 0 {
		l.torn = line[n-1] != '\n'
	}
	if err == nil {
		l.dropped = 0
	}
	return err
}

// allows says whether an entry is to be written, and takes it off its account.
func (l *Log) allows(e Entry) bool {
	if e.Owner != "" && !e.Minor {
		return true
	}
	a := accountOf(e)
	return l.allowed.GetOr(a, func() *rate.Limiter { return newAllowance(a) }).Allow()
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// rotate puts the file aside, if it has anything in it, and begins another.
func (l *Log) rotate() error {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
		for n := l.opts.Keep; n > 0; n-- {
			if err := os.Rename(l.name(n-1), l.name(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return l.open()
}

// name is that of the n-th file before the one that is written.
func (l *Log) name(n int) string {
	if n == 0 {
		return l.opts.Path
	}
	return fmt.Sprintf("%s.%d", l.opts.Path, n)
}

func (l *Log) open() (err error) {
	l.file, l.size, err = openFile(l.opts.Path)
	if err == nil {
		l.torn, err = endsTorn(l.opts.Path, l.size)
	}
	return err
}

// endsTorn says whether a file ends in a line that was cut off, by a full disk or
// by the end of whoever wrote it.
func endsTorn(path string, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	var last [1]byte
	_, err = file.ReadAt(last[:], size-1)
	return last[0] != '\n', err
}

func openFile(path string) (*os.File, int64, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s is open to others (mode %04o): close it with chmod 600", path, info.Mode().Perm())
	}
	if err != nil {
		_ = file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

func encode(e Entry) ([]byte, error) {
	e.Time = e.Time.UTC()
	line, err := json.Marshal(e)
	return append(line, '\n'), err
}
