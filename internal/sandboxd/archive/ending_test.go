package archive

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"

	"sandgate/sandboxclient/wire"
)

// A tar is whole when its end says so, wherever it was cut: between two entries,
// behind the long name of one, in zeros that are a file's.
func TestRestore_ofATarThatWasCut(t *testing.T) {
	r := newRig(t)
	r.put("app/file", "what was")
	whole := makeTar(t,
		entry{name: "dir", kind: tar.TypeDir},
		entry{name: "dir/" + strings.Repeat("long", 60), kind: tar.TypeReg, body: "x"},
		entry{name: "zeros", kind: tar.TypeReg, body: strings.Repeat("\x00", 3*tarBlock)},
	)
	const end = 2 * tarBlock
	for size := 0; size <= len(whole)-end; size += tarBlock {
		_, err := r.Restore(t.Context(), "app", bytes.NewReader(whole[:size]), RestoreOptions{})
		wantCode(t, err, wire.CodeInvalid)
	}
	for _, size := range []int{len(whole) - tarBlock, len(whole)} { // GNU tar bears one block less
		if info := r.restore("app", whole[:size]); info.Files != 2 {
			t.Errorf("of %d bytes: %+v", size, info)
		}
	}
}
