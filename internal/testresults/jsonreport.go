package testresults

import (
	"encoding/json"
	"errors"
	"io"
)

// jsonReport reads the JSON of Jest, of Vitest, which has the same shape, and of
// Mocha. It is read value by value: decoded as a whole, a report made of empty
// objects would fill many times its own size.
type jsonReport struct {
	walker
	sum     Results
	started float64 // Jest's and Vitest's: milliseconds since 1970
	ended   float64
	known   bool
}

func parseJSON(r io.Reader) (*Results, error) {
	j := &jsonReport{walker: walker{d: json.NewDecoder(r)}}
	err := j.object(j.field)
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case !j.known:
		return nil, errNoReport
	}
	if j.ended > j.started {
		j.sum.DurationMS = j.ended - j.started
	}
	return &j.sum, nil
}

// field reads one of the outermost fields. Each framework has some of its own.
func (j *jsonReport) field(name string) error {
	switch name {
	case "testResults":
		if j.sum.Framework == "" {
			j.sum.Framework = "vitest"
		}
		j.known = true
		return j.array(j.file)
	case "numRuntimeErrorTestSuites":
		j.sum.Framework = "jest"
	case "startTime":
		return j.number(&j.started)
	case "stats":
		j.sum.Framework, j.known = "mocha", true
		return j.object(j.stat)
	case "failures":
		return j.array(j.mochaFailure)
	}
	return j.skip()
}

// clean takes terminal sequences out of what a report quotes, and gives its lines.
func clean(text string, take func(line string)) {
	var l lines
	each := func(p piece) { take(p.text) }
	l.write([]byte(text), each)
	l.end(each)
}

// cleanName gives the first line of a name.
func cleanName(text string) string {
	name := ""
	clean(text, func(line string) {
		if name == "" {
			name = cut(line, maxName)
		}
	})
	return name
}
