package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	// partSize is what is sent in one request, and held in memory for it. A
	// server takes 10,000 parts.
	partSize = 8 << 20
	// maxTries bounds how often a request is sent that a server did not answer.
	maxTries = 3
	// abortTime bounds the end of an upload that came to nothing.
	abortTime = 15 * time.Second
	// folderInTheWay is what a server that has folders answers where a key is the
	// folder of others, and where a folder went while an object was put there.
	folderInTheWay = "ExistingObjectIsDirectory"
	// folderPause comes before the second try then, and twice it before the third.
	folderPause = 20 * time.Millisecond
)

// S3 is a store in a bucket of an S3 server. Its methods may be called from many
// goroutines. No two gateways may use the same bucket with the same prefix.
type S3 struct {
	client    *minio.Client
	transport *http.Transport
	bucket    string
	prefix    string // with a slash at its end, if there is one

	aborting sync.Mutex // held while uploads that came to nothing are given up

	mu     sync.Mutex
	failed map[string]bool // keys of which one may still be there
}

// OpenS3 opens the store.
func OpenS3(ctx context.Context, c S3Config) (*S3, error) {
	transport, err := minio.DefaultTransport(c.Secure)
	if err != nil {
		return nil, fmt.Errorf("open object store: %w", err)
	}
	transport.DialContext = patiently(transport.DialContext, sendTime)
	client, err := minio.New(c.Endpoint, &minio.Options{
		Creds:  credentials.NewStaticV4(c.AccessKey, c.SecretKey, c.Session),
		Secure: c.Secure, Region: c.Region, Transport: transport, MaxRetries: maxTries,
	})
	if err != nil {
		return nil, fmt.Errorf("open object store: %w", err)
	}
	s := &S3{client: client, transport: transport, bucket: c.Bucket, failed: make(map[string]bool)}
	if c.Prefix != "" {
		s.prefix = c.Prefix + "/"
	}
	if err := s.check(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("open object store: bucket %s on %s: %w", c.Bucket, c.Endpoint, err)
	}
	return s, nil
}

// check finds out what would make every request fail.
func (s *S3) check(ctx context.Context) error {
	there, err := s.client.BucketExists(ctx, s.bucket)
	if err != nil {
		return explain(err)
	}
	if !there {
		return errors.New("there is no such bucket")
	}
	return nil
}

// Sweep gives up the uploads that were under way when the gateway was killed, as
// Local does.
func (s *S3) Sweep(ctx context.Context) error {
	if err := s.abort(ctx, s.prefix, false); err != nil {
		return fmt.Errorf("sweep object store: %w", explain(err))
	}
	return nil
}

// abort gives up the unfinished uploads of keys that begin with a prefix, or
// exactly of the one key.
func (s *S3) abort(ctx context.Context, prefix string, exactly bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listing
	core := minio.Core{Client: s.client}
	for upload := range s.client.ListIncompleteUploads(ctx, s.bucket, prefix, true) {
		if upload.Err != nil {
			return upload.Err
		}
		if exactly && upload.Key != prefix {
			continue
		}
		if err := core.AbortMultipartUpload(ctx, s.bucket, upload.Key, upload.UploadID); err != nil && !notThere(err) {
			return err
		}
	}
	return nil
}

// Close lets go of the connections. Readers that are open stay usable.
func (s *S3) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// Get reads an object from an offset, as Local does.
func (s *S3) Get(ctx context.Context, key string, offset int64) (io.ReadCloser, Info, error) {
	if err := errors.Join(CheckKey(key), context.Cause(ctx)); err != nil {
		return nil, Info{}, err
	}
	if offset < 0 {
		return nil, Info{}, failure("get", key, ErrOffset)
	}
	body, info, err := s.get(ctx, key, offset)
	if err != nil {
		return nil, Info{}, failure("get", key, explain(err))
	}
	return reader{ctx, body}, info, nil
}

func (s *S3) get(ctx context.Context, key string, offset int64) (io.ReadCloser, Info, error) {
	if offset > 0 {
		return s.getFrom(ctx, key, offset)
	}
	core := minio.Core{Client: s.client}
	body, stat, _, err := core.GetObject(ctx, s.bucket, s.prefix+key, minio.GetObjectOptions{})
	return body, infoOfS3(key, stat), err
}

// getFrom asks for the size first: of what lies behind the end a server says too
// little.
func (s *S3) getFrom(ctx context.Context, key string, offset int64) (io.ReadCloser, Info, error) {
	stat, err := s.client.StatObject(ctx, s.bucket, s.prefix+key, minio.StatObjectOptions{})
	if err != nil {
		return nil, Info{}, err
	}
	info := infoOfS3(key, stat)
	if offset > stat.Size {
		return nil, Info{}, ErrOffset
	}
	if offset == stat.Size {
		return io.NopCloser(strings.NewReader("")), info, nil
	}
	var o minio.GetObjectOptions
	if err := errors.Join(o.SetRange(offset, 0), o.SetMatchETag(stat.ETag)); err != nil {
		return nil, Info{}, err
	}
	core := minio.Core{Client: s.client}
	body, _, _, err := core.GetObject(ctx, s.bucket, s.prefix+key, o)
	return body, info, err
}

func infoOfS3(key string, stat minio.ObjectInfo) Info {
	return Info{Key: key, Size: stat.Size, Modified: stat.LastModified}
}

// Delete removes an object; one that is not there is no error.
func (s *S3) Delete(ctx context.Context, key string) error {
	if err := errors.Join(CheckKey(key), context.Cause(ctx)); err != nil {
		return err
	}
	err := s.client.RemoveObject(ctx, s.bucket, s.prefix+key, minio.RemoveObjectOptions{})
	if err != nil && !notThere(err) {
		return failure("delete", key, explain(err))
	}
	return nil
}

// notThere tells that there is no object, or that the key is a folder of others
// on a server that has folders.
func notThere(err error) bool {
	switch minio.ToErrorResponse(err).Code {
	case "NoSuchKey", "NoSuchUpload", "DirectoryNotEmpty", folderInTheWay:
		return true
	}
	return false
}

// explain puts words to what an operator can do something about.
func explain(err error) error {
	answer := minio.ToErrorResponse(err)
	switch answer.Code {
	case "NoSuchKey":
		return ErrNotExist
	case "NoSuchBucket":
		return errors.New("there is no such bucket")
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied":
		return fmt.Errorf("the server does not accept the credentials: %s", answer.Code)
	}
	if answer.StatusCode == http.StatusInsufficientStorage {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}
