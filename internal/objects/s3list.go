package objects

import (
	"context"
	"iter"
	"strings"

	"github.com/minio/minio-go/v7"
)

// List gives the objects whose keys begin with prefix, as Local does.
func (s *S3) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := CheckPrefix(prefix); err != nil {
			yield(Info{}, err)
			return
		}
		if ctx.Err() != nil {
			yield(Info{}, context.Cause(ctx))
			return
		}
		for object := range s.client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}) {
			if object.Err != nil {
				yield(Info{}, failure("list", prefix, explain(object.Err)))
				return
			}
			key := strings.TrimPrefix(object.Key, s.prefix)
			if CheckKey(key) != nil {
				continue // a stranger's
			}
			if !yield(infoOfS3(key, object), nil) {
				return
			}
		}
	}
}
