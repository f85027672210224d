package objects_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"sandgate/internal/objects"
	"sandgate/internal/objects/objectstest"
	"sandgate/internal/sandboxtest"
)

// config is that of a store in a bucket of the server, below a prefix that no
// other test uses.
func config(t *testing.T, s *sandboxtest.S3Server) objects.S3Config {
	t.Helper()
	place := "s3://objects/" + strings.ToLower(rand.Text()) + "?endpoint=" + url.QueryEscape(s.Endpoint)
	c, err := objects.ParseS3(place, environment(s.AccessKey, s.SecretKey))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func environment(access, secret string) func(string) string {
	return func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": secret}[name]
	}
}

// client is one of the test's own, which makes buckets.
func client(t *testing.T, c objects.S3Config) *minio.Client {
	t.Helper()
	transport, err := minio.DefaultTransport(c.Secure)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.CloseIdleConnections)
	m, err := minio.New(c.Endpoint, &minio.Options{
		Creds: credentials.NewStaticV4(c.AccessKey, c.SecretKey, ""), Region: c.Region, Transport: transport,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func makeBucket(t *testing.T, c objects.S3Config) {
	t.Helper()
	if err := client(t, c).MakeBucket(t.Context(), c.Bucket, minio.MakeBucketOptions{Region: c.Region}); err != nil {
		t.Fatal(err)
	}
}

func openS3(t *testing.T, c objects.S3Config) *objects.S3 {
	t.Helper()
	s, err := objects.OpenS3(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// uploads counts those that are under way.
func uploads(t *testing.T, c objects.S3Config) int {
	t.Helper()
	n := 0
	for upload := range client(t, c).ListIncompleteUploads(t.Context(), c.Bucket, c.Prefix, true) {
		if upload.Err != nil {
			t.Fatal(upload.Err)
		}
		n++
	}
	return n
}

func TestS3(t *testing.T) {
	server := sandboxtest.StartS3(t)
	makeBucket(t, config(t, server))
	objectstest.Test(t, func(t *testing.T) objectstest.Store { return openS3(t, config(t, server)) })
}

func TestOpenS3_saysWhatIsWrong(t *testing.T) {
	server := sandboxtest.StartS3(t)
	good := config(t, server)
	if _, err := objects.OpenS3(t.Context(), good); err == nil || !strings.Contains(err.Error(), "no such bucket") {
		t.Errorf("without a bucket: %v", err)
	}
	makeBucket(t, good)
	wrong := good
	wrong.SecretKey = "wrong"
	if _, err := objects.OpenS3(t.Context(), wrong); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf("with a wrong key: %v", err)
	}
	server.Kill()
	if _, err := objects.OpenS3(t.Context(), good); err == nil {
		t.Error("without a server it was opened")
	}
}

// blocked gives so much content, then tells, and goes on.
type blocked struct {
	left    int
	reached func()
}

func (b *blocked) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.reached()
	}
	b.left -= len(p)
	return len(p), nil
}

// What was under way when the content fails, or nobody wants it any more, is given up.
func TestS3_leavesNoParts(t *testing.T) {
	server := sandboxtest.StartS3(t)
	c := config(t, server)
	makeBucket(t, c)
	s := openS3(t, c)
	broken := io.MultiReader(io.LimitReader(rand.Reader, 20<<20), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := s.Put(t.Context(), "broken", broken); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("content that broke off: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.Put(ctx, "canceled", &blocked{left: 20 << 20, reached: cancel}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if n := uploads(t, c); n != 0 {
		t.Errorf("%d uploads are left", n)
	}
	for info, err := range s.List(t.Context(), "") {
		t.Errorf("there is %+v, %v", info, err)
	}
}

// A server that was killed in the middle has half an object, which the next
// gateway removes.
func TestS3_serverKilledInTheMiddle(t *testing.T) {
	server := sandboxtest.StartS3(t)
	c := config(t, server)
	makeBucket(t, c)
	s := openS3(t, c)
	if _, err := s.Put(t.Context(), "key", strings.NewReader("what was")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "key", &blocked{left: 20 << 20, reached: server.Kill}); err == nil {
		t.Fatal("put although the server was killed")
	}
	server.Start()
	again := openS3(t, c)
	if n := uploads(t, c); n == 0 {
		t.Error("nothing was under way, or the store was swept although nobody knows whose it is")
	}
	if err := again.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := uploads(t, c); n != 0 {
		t.Errorf("%d uploads are left", n)
	}
	stream, info, err := again.Get(t.Context(), "key", 0)
	if err != nil || info.Size != int64(len("what was")) {
		t.Fatalf("%+v, %v", info, err)
	}
	_ = stream.Close()
}

// A gateway that lives on when the server was killed gives up what had failed, once
// the server is back.
func TestS3_serverIsBack(t *testing.T) {
	server := sandboxtest.StartS3(t)
	c := config(t, server)
	makeBucket(t, c)
	s := openS3(t, c)
	if _, err := s.Put(t.Context(), "key", &blocked{left: 20 << 20, reached: server.Kill}); err == nil {
		t.Fatal("put although the server was killed")
	}
	server.Start()
	if n := uploads(t, c); n == 0 {
		t.Error("nothing was under way, so that this test shows nothing")
	}
	for _, key := range []string{"other", "key"} {
		if _, err := s.Put(t.Context(), key, strings.NewReader("short")); err != nil {
			t.Fatal(err)
		}
		if n := uploads(t, c); n != 0 {
			t.Errorf("%d uploads are left when %s was put", n, key)
		}
	}
}

func TestParseS3(t *testing.T) {
	const endpoint = "endpoint=http%3A%2F%2F127.0.0.1%3A7070"
	got, err := objects.ParseS3("s3://bucket/a/b/?region=eu-1&"+endpoint, environment("id", "secret"))
	want := objects.S3Config{Endpoint: "127.0.0.1:7070", Region: "eu-1", Bucket: "bucket", Prefix: "a/b", AccessKey: "id", SecretKey: "secret"}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, place := range []string{
		"s3://", "s3:///prefix", "s3://id:hidden@bucket", "s3://bucket?secret_key=hidden", "s3://bucket?acessKey=hidden",
		"s3://bucket?endpoint=http%3A%2F%2Fid%3Ahidden%40host", "s3://bucket?endpoint=host", "s3://bucket?endpoint=ftp%3A%2F%2Fhost",
		"s3://bucket/../x", "s3://bucket?zone=1", "s3://bucket/%zz",
	} {
		_, err := objects.ParseS3(place, environment("id", "secret"))
		if err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", place, err)
		}
	}
	if _, err := objects.ParseS3("s3://bucket", environment("", "")); err == nil || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("without credentials: %v", err)
	}
}
