package objects

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
)

var parts = sync.Pool{New: func() any { return new([partSize]byte) }}

// Put keeps what content gives, as Local does: the server makes an object of it
// in one step, once all of it is there.
func (s *S3) Put(ctx context.Context, key string, content io.Reader) (Info, error) {
	if err := errors.Join(CheckKey(key), context.Cause(ctx)); err != nil {
		return Info{}, err
	}
	if err := s.makeWay(ctx, key); err != nil {
		return Info{}, failure("put", key, explain(err))
	}
	first := parts.Get().(*[partSize]byte)
	defer parts.Put(first)
	source := &watched{reader: reader{ctx, io.NopCloser(content)}}
	n, err := io.ReadFull(source, first[:])
	switch {
	case source.err != nil:
		return Info{}, failure("put", key, source.err)
	case err != nil: // it is short
		err = s.putWhole(ctx, key, first[:n])
	default:
		err = s.putParts(ctx, key, io.MultiReader(bytes.NewReader(first[:]), source))
		if err != nil && (source.err == nil || ctx.Err() != nil) {
			err = errors.Join(err, s.giveUp(ctx, key))
		}
	}
	if err := errors.Join(source.err, err); err != nil {
		return Info{}, failure("put", key, explain(err))
	}
	return Info{Key: key, Size: source.size, Modified: time.Now()}, nil
}

// putWhole sends a short object. On a server that has folders the last delete in
// one removes it, also from under an object that is about to be put there, which
// is then told as a key that cannot be. Asked again, it makes the folder anew.
func (s *S3) putWhole(ctx context.Context, key string, content []byte) error {
	for try := 1; ; try++ {
		_, err := s.client.PutObject(ctx, s.bucket, s.prefix+key, bytes.NewReader(content), int64(len(content)),
			minio.PutObjectOptions{DisableMultipart: true})
		if minio.ToErrorResponse(err).Code != folderInTheWay || try == maxTries {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-time.After(time.Duration(try) * folderPause):
		}
	}
}

// putParts sends an object whose length is not known. What came to nothing the
// library gives up; it cannot, and does not say so, with a context that has ended or
// while the server is away.
func (s *S3) putParts(ctx context.Context, key string, content io.Reader) error {
	_, err := s.client.PutObject(ctx, s.bucket, s.prefix+key, content, -1, minio.PutObjectOptions{PartSize: partSize})
	return err
}

// giveUp sees to it that no part of a failed upload is left on the server: now, or
// before the first put for which it is there again.
func (s *S3) giveUp(ctx context.Context, key string) error {
	s.mu.Lock()
	s.failed[key] = true
	s.mu.Unlock()
	if !s.aborting.TryLock() { // as when the server does not answer, which others wait for already
		return nil
	}
	defer s.aborting.Unlock()
	return s.abortFailed(context.WithoutCancel(ctx))
}

// makeWay gives up what has failed before something is put. What cannot be given
// up now, or is being given up, waits for another time, unless it is of this key:
// then it would be given up together with what is put.
func (s *S3) makeWay(ctx context.Context, key string) error {
	if s.hasFailed(key) {
		s.aborting.Lock()
	} else if !s.aborting.TryLock() {
		return nil
	}
	defer s.aborting.Unlock()
	if err := s.abortFailed(ctx); err != nil && s.hasFailed(key) {
		return err
	}
	return nil
}

// abortFailed gives up the uploads that have failed; s.aborting is held.
func (s *S3) abortFailed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, abortTime)
	defer cancel()
	for _, key := range s.allFailed() {
		if err := s.abort(ctx, s.prefix+key, true); err != nil {
			return err
		}
		s.mu.Lock()
		delete(s.failed, key)
		s.mu.Unlock()
	}
	return nil
}

func (s *S3) allFailed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.failed))
}

func (s *S3) hasFailed(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed[key]
}

// watched counts, and remembers what content failed with: the library takes an
// unexpected end for a usual one.
type watched struct {
	reader
	size int64
	err  error
}

var errBrokeOff = errors.New("the content broke off")

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.reader.Read(p)
	w.size += int64(n)
	if err == nil || err == io.EOF { //nolint:errorlint // an end is this very error
		return n, err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.Join(errBrokeOff, err)
	}
	w.err = err
	return n, err
}
