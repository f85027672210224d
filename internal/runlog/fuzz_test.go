package runlog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
)

// Whatever is in a file, Open makes a log of it whose content is a prefix,
// which Scan reads in the same way, and which can be ended.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("1 0 {}\n2 5 {}\n.3 0 {}\n"))
	f.Add([]byte("1 0 {}\n2 5 {}\n4 0 {}\n"))
	f.Add([]byte("1 0 {}\n.2 0 {}\n3 0 {}\n"))
	f.Add([]byte("1 0 {}\n\x00\x00\x00"))
	f.Add([]byte("01 00 \n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := newPath(t)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		l := open(t, path)
		kept, err := io.ReadAll(l.Content())
		if err != nil || !bytes.HasPrefix(content, kept) {
			t.Fatalf("%q of %q, %v", kept, content, err)
		}
		want, _ := collect(Scan(bytes.NewReader(content), 0))
		got, err := take(t, l.Follow(0))
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		same(t, want, got)
		if l.Ended() {
			return
		}
		if seq, err := l.End(0, []byte("{}")); err != nil || seq != int64(len(want)+1) {
			t.Errorf("%d, %v", seq, err)
		}
	})
}
