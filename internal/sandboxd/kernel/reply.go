package kernel

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"sandgate/sandboxclient/wire"
)

// Types of replies.
const (
	replyReady       = "ready"
	replyPreloaded   = "preloaded"
	replyResult      = "result"
	replyInterrupted = "interrupted"
	replyDone        = "done"
)

// maxReply bounds one frame of the program, which itself stops at 16 MiB.
const maxReply = 17 << 20

// A reply is one frame of the program, described in the package comment.
type reply struct {
	ID          int             `json:"id"`
	PID         int             `json:"pid"`
	Type        string          `json:"type"`
	Engine      string          `json:"engine"`
	Result      fields          `json:"result"`
	Dropped     []string        `json:"dropped"`
	Error       *wire.CodeError `json:"error"`
	Interrupted bool            `json:"interrupted"`
	ExitCode    int             `json:"exitCode"`

	Failed []wire.FailedPreload `json:"failed"`
}

// fields are a result as the program sends it: JSON is text of its own, so that
// a deep value is no reason to refuse the frame.
type fields struct {
	Text       string `json:"text"`
	HTML       string `json:"html"`
	PNG        string `json:"png"`
	JPEG       string `json:"jpeg"`
	SVG        string `json:"svg"`
	JSON       string `json:"json"`
	LaTeX      string `json:"latex"`
	Markdown   string `json:"markdown"`
	JavaScript string `json:"javascript"`
}

// readReplies passes on what the process pid itself says. It ends with the
// channel, or when that carries something else than replies.
func readReplies(file io.ReadCloser, pid int, ch chan<- incoming) {
	defer func() {
		file.Close()
		ch <- incoming{from: fromReplies, ended: true}
	}()
	for r := newReplyReader(file); ; {
		next, err := r.next()
		if err != nil {
			return
		}
		if next.PID == pid {
			ch <- incoming{from: fromReplies, reply: next}
		}
	}
}

// A replyReader decodes frames of a peer that is not trusted.
type replyReader struct{ r *bufio.Reader }

func newReplyReader(r io.Reader) *replyReader {
	return &replyReader{bufio.NewReaderSize(r, 64<<10)}
}

// next gives the next reply. After an error the reader is of no further use.
func (rr *replyReader) next() (*reply, error) {
	for {
		line, err := rr.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		next := &reply{}
		if err := json.Unmarshal(line, next); err != nil {
			return nil, err
		}
		return next, nil
	}
}

// line reads up to a newline. One that the end of the stream cuts is no line.
func (rr *replyReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := rr.r.ReadSlice('\n')
		if len(line)+len(part) > maxReply {
			return nil, errors.New("kernel: reply too long")
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
