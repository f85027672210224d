package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// event is what the bench looks at in one message of an event stream.
type event struct {
	number     int64
	Type       string
	Data       string
	Status     string
	ExitCode   int
	Message    string
	Phase      string
	State      string
	DurationMS float64
	Backup     *struct{ ID string }
}

// stream reads one event stream as a viewer does, and wants every event of it.
// It is sparing, for hundreds of them share the machine with what is measured.
type stream struct {
	location string // of the execution
	body     io.ReadCloser
	lines    *bufio.Scanner
	last     int64
}

// watch opens a stream: a POST starts an execution, a GET follows one.
func (l *lab) watch(ctx context.Context, method, target, code string) (*stream, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(code))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := l.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return nil, fmt.Errorf("%s %s: %s: %s", method, target, resp.Status, text)
	}
	s := &stream{location: resp.Header.Get("Location"), body: resp.Body, lines: bufio.NewScanner(resp.Body)}
	s.lines.Buffer(nil, miB)
	return s, nil
}

func (s *stream) close() { s.body.Close() }

// next gives the next event, which has to have the next number.
func (s *stream) next() (event, error) {
	var e event
	for s.lines.Scan() {
		field, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch field {
		case "id":
			number, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return e, err
			}
			e.number = number
		case "data":
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				return e, err
			}
			return e, s.admit(e)
		}
	}
	return e, errors.Join(s.lines.Err(), io.ErrUnexpectedEOF)
}

// admit refuses a failure of ours, and an event that comes twice or after a gap.
func (s *stream) admit(e event) error {
	if e.Type == "error" {
		return errors.New(e.Message)
	}
	if e.number != s.last+1 {
		return fmt.Errorf("event %d follows event %d", e.number, s.last)
	}
	s.last = e.number
	return nil
}

// until reads on to the first event that is wanted.
func (s *stream) until(wanted func(event) bool) error {
	for {
		e, err := s.next()
		if err != nil || wanted(e) {
			return err
		}
		if e.Type == "complete" {
			return fmt.Errorf("it ended, %s, before what was waited for", e.Status)
		}
	}
}

// succeed shows every event up to the end, which has to be a success.
func (s *stream) succeed(each func(event)) error {
	for {
		e, err := s.next()
		if err != nil {
			return err
		}
		each(e)
		if !complete(e) {
			continue
		}
		if e.Status != "exited" || e.ExitCode != 0 {
			return fmt.Errorf("it ended, %s, with exit code %d, in %s", e.Status, e.ExitCode, e.Phase)
		}
		return nil
	}
}

func complete(e event) bool { return e.Type == "complete" }
