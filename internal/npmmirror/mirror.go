package npmmirror

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"
)

// Options say what is mirrored, and where it is kept. All are required but
// Rewrite.
type Options struct {
	Registry  *url.URL
	Transport http.RoundTripper // to the registry, and to where it redirects
	Dir       string
	MaxBytes  int64 // of everything kept

	// Rewrite has documents name tarballs here, in place of the registry. npm does
	// without when the registry is its own default: it asks for tarballs that are
	// said to lie there wherever it is configured to.
	Rewrite bool

	Logger  *slog.Logger
	Metrics prometheus.Registerer
}

// A Mirror answers npm.
type Mirror struct {
	opts    Options
	base    string // the registry's URL with a slash at its end
	client  *http.Client
	disk    *disk
	metrics *metrics
	fetches singleflight.Group

	patience time.Duration // with a registry that says nothing

	ctx  context.Context // of fetches, which belong to nobody's request
	stop context.CancelFunc
	wg   sync.WaitGroup // the fetches

	mu     sync.Mutex
	closed bool

	rewriting sync.Mutex // one document at a time
}

var _ http.Handler = (*Mirror)(nil)

// New takes up the cache in a directory. The caller calls Close.
func New(opts Options) (*Mirror, error) {
	d, err := openDisk(opts.Dir, opts.MaxBytes)
	if err != nil {
		return nil, err
	}
	m := &Mirror{
		opts:    opts,
		base:    strings.TrimSuffix(opts.Registry.String(), "/") + "/",
		client:  &http.Client{Transport: opts.Transport, CheckRedirect: checkRedirect},
		disk:    d,
		metrics: newMetrics(opts.Metrics, d),

		patience: silenceTime,
	}
	m.ctx, m.stop = context.WithCancel(context.Background())
	return m, nil
}

// Close ends what is being fetched. The cache stays.
func (m *Mirror) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.stop()
	m.wg.Wait()
	m.client.CloseIdleConnections()
	return nil
}

// ServeHTTP answers npm in a sandbox.
func (m *Mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		fail(w, refusal{http.StatusNotFound, "this mirror can only be read"})
		return
	}
	if r.URL.Path == "/-/ping" {
		writeJSON(w, http.StatusOK, struct{}{})
		return
	}
	res, ok := parse(r)
	if !ok {
		fail(w, refusal{http.StatusNotFound, "this mirror has packages and nothing else"})
		return
	}
	if err := m.serve(w, r, res); err != nil {
		m.opts.Logger.Debug("npm was not answered", "package", res.name, "file", res.file, "error", err)
		fail(w, err)
	}
}

func (m *Mirror) serve(w http.ResponseWriter, r *http.Request, res resource) error {
	f, err := m.get(res)
	if err != nil {
		return err
	}
	defer f.Close()
	if res.file != "" {
		// npm would keep a copy in a cache of its own, on a disk that is the
		// sandbox's memory and for nobody to use.
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "application/octet-stream")
		return send(w, f)
	}
	if _, err := readDocument(f); err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "max-age=60")
	w.Header().Set("Content-Type", contentType(res))
	if m.opts.Rewrite {
		return m.sendRewritten(w, r, f)
	}
	return send(w, f)
}

// A refusal is an answer that is no package.
type refusal struct {
	status  int
	message string
}

func (r refusal) Error() string { return r.message }

// fail answers in the form in which npm shows it.
func fail(w http.ResponseWriter, err error) {
	known, ok := errors.AsType[refusal](err)
	switch {
	case ok:
	case errors.Is(err, context.Canceled): // whoever asked has left
		return
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		known = refusal{http.StatusGatewayTimeout, "the registry does not answer in time"}
	default:
		known = refusal{http.StatusBadGateway, "the registry could not be asked"}
	}
	for _, name := range []string{"Cache-Control", "Content-Length"} {
		w.Header().Del(name)
	}
	writeJSON(w, known.status, map[string]string{"error": known.message})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // whoever is gone needs no answer
}

// send answers with what is left of a file. Once it has begun there is nothing
// to tell: npm sees that it is too short.
func send(w http.ResponseWriter, f *os.File) error {
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	setLength(w, info.Size()-at)
	_, _ = io.Copy(w, f)
	return nil
}
