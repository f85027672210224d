package npmmirror

import (
	"context"
	"crypto/sha1"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
)

// fetchTarball keeps a tarball that came whole and is what the package's
// document says, as far as that is known here.
func (m *Mirror) fetchTarball(ctx context.Context, res resource, silence alarm) error {
	resp, err := m.ask(ctx, res, http.Header{"Accept-Encoding": {"identity"}})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	f, err := m.disk.create()
	if err != nil {
		return err
	}
	defer discard(f)
	m.metrics.count("miss")
	if err := download(f, resp, silence, m.opts.MaxBytes/2); err != nil {
		return err
	}
	if want, known := m.dist(res); known {
		if err := want.check(f); err != nil {
			m.opts.Logger.Warn("the npm registry gave another tarball than its document says", "package", res.name, "file", res.file)
			return err
		}
	}
	return m.disk.commit(f, m.key(res))
}

// A dist is what a document says of one version's tarball.
type dist struct {
	Tarball   string `json:"tarball"`
	Integrity string `json:"integrity"`
	Shasum    string `json:"shasum"`
}

// dist looks a tarball up in the documents that are kept.
func (m *Mirror) dist(res resource) (dist, bool) {
	for _, full := range []bool{false, true} {
		f, _, ok := m.disk.open(m.key(resource{name: res.name, full: full}))
		if !ok {
			continue
		}
		d, ok := findDist(f, "/"+res.file)
		_ = f.Close()
		if ok {
			return d, true
		}
	}
	return dist{}, false
}

func findDist(f *os.File, file string) (dist, bool) {
	if _, err := readDocument(f); err != nil {
		return dist{}, false
	}
	var doc struct {
		Versions map[string]struct {
			Dist dist `json:"dist"`
		} `json:"versions"`
	}
	if json.NewDecoder(io.LimitReader(f, maxDocument)).Decode(&doc) != nil {
		return dist{}, false
	}
	for _, v := range doc.Versions {
		if strings.HasSuffix(v.Dist.Tarball, file) {
			return v.Dist, true
		}
	}
	return dist{}, false
}

// check compares a file with the strongest sum that is known of it.
func (d dist) check(f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	long, short := sha512.New(), sha1.New()
	if _, err := io.Copy(io.MultiWriter(long, short), f); err != nil {
		return err
	}
	sums := strings.Fields(d.Integrity)
	known := slices.ContainsFunc(sums, func(s string) bool { return strings.HasPrefix(s, "sha512-") })
	switch {
	case known && slices.Contains(sums, "sha512-"+base64.StdEncoding.EncodeToString(long.Sum(nil))):
	case !known && (d.Shasum == "" || d.Shasum == hex.EncodeToString(short.Sum(nil))):
	default:
		return refusal{http.StatusBadGateway, "the registry's tarball is not what its document says"}
	}
	return nil
}
