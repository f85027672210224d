package testresults

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// maxReport is the largest report that is read, in bytes.
const maxReport = 16 << 20

// maxDuration is as much as is believed of how long tests took, in milliseconds.
const maxDuration = 1e12

var (
	errTooLarge = errors.New("report is larger than 16 MiB")
	errNoReport = errors.New("neither JUnit XML nor JSON of Jest, Vitest or Mocha")
)

// ParseReport reads a report that a runner wrote: JUnit XML, or the JSON of
// Jest, Vitest or Mocha, told apart by their shape. name is for errors.
func ParseReport(name string, r io.Reader) (*Results, error) {
	report, err := parseReport(&limited{r: r, left: maxReport})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if report.Failures == nil {
		report.Failures = []Failure{}
	}
	report.DurationMS = min(report.DurationMS, maxDuration) // numbers can be so large that they are no JSON any more
	return report, nil
}

func parseReport(from io.Reader) (*Results, error) {
	r := bufio.NewReader(cleaned(from))
	switch first, err := firstByte(r); {
	case err != nil:
		return nil, err
	case first == '<':
		return parseJUnit(r)
	case first == '{':
		return parseJSON(r)
	}
	return nil, errNoReport
}

// firstByte skips white space and looks at what comes then.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return 0, errNoReport
		case err != nil:
			return 0, err
		case b != ' ' && b != '\t' && b != '\n' && b != '\r':
			return b, r.UnreadByte()
		}
	}
}

// cleaned takes out what a report should not have and some do: byte order marks,
// runes that are none, terminal sequences and other control characters.
func cleaned(r io.Reader) io.Reader {
	valid := transform.Chain(unicode.BOMOverride(transform.Nop), runes.ReplaceIllFormed())
	return &printable{r: transform.NewReader(r, valid)}
}

// printable passes on what a screen would show.
type printable struct {
	r      io.Reader
	escape escape
}

func (p *printable) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	kept := b[:0]
	for _, c := range b[:n] {
		if !p.escape.drop(c) && (c >= ' ' || c == '\t' || c == '\n' || c == '\r') {
			kept = append(kept, c)
		}
	}
	return len(kept), err
}

// limited fails where io.LimitReader would pretend that the end was reached.
type limited struct {
	r    io.Reader
	left int
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.r.Read(b[:min(len(b), l.left+1)])
	if l.left -= n; l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
