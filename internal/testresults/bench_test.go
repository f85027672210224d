package testresults

import (
	"bytes"
	"testing"
)

func BenchmarkParser_write(b *testing.B) {
	for name, line := range map[string]string{
		"plain":  "a line of what a program logs while it is tested, of some eighty bytes or so\n",
		"colour": "\x1b[90m[info]\x1b[39m a line with \x1b[32mcolours\x1b[39m, of some eighty bytes or so\n",
		"tap":    "ok 1 - a test with a name\n  ---\n  duration_ms: 0.3\n  ...\n",
	} {
		b.Run(name, func(b *testing.B) {
			chunk := bytes.Repeat([]byte(line), 32<<10/len(line))
			p := NewParser()
			p.Write("stdout", []byte("TAP version 13\n"))
			b.SetBytes(int64(len(chunk)))
			for b.Loop() {
				p.Write("stdout", chunk)
			}
		})
	}
}
