package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds what unpacking holds in memory, whatever an archive asks for.
const maxWindow = 32 << 20

// Magic numbers at the beginning of what is compressed.
var (
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	gzipMagic = []byte{0x1f, 0x8b}
)

// compressed gives a writer whose Close ends what it has written to w.
func compressed(w io.Writer) (io.WriteCloser, error) {
	return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(1<<20))
}

// plain gives what a body holds, which may be compressed.
func plain(body io.Reader) (io.Reader, func(), error) {
	buffered := bufio.NewReaderSize(body, 256<<10)
	begins, err := buffered.Peek(len(zstdMagic))
	switch {
	case bytes.HasPrefix(begins, zstdMagic):
		d, err := zstd.NewReader(buffered, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, nil, err
		}
		return d, d.Close, nil
	case bytes.HasPrefix(begins, gzipMagic):
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, nil, err
		}
		return z, func() { _ = z.Close() }, nil
	case errors.Is(err, io.EOF):
		return nil, nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, nil, err
	}
	return buffered, func() {}, nil
}
