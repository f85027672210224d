package httpapi

import (
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/audit"
	"sandgate/internal/identity"
)

// Options say what an API reports to and whom it answers.
type Options struct {
	Logger   *slog.Logger
	Registry prometheus.Registerer
	Guard    *Guard

	// Identifier says who a request comes from; nil: from identity.Anybody.
	Identifier Identifier
	// Take counts a request of somebody, says in the answer's header what is left,
	// and refuses one that came too fast; nil: none does.
	Take func(id identity.Identity, header http.Header) error
	// Proxies are those who say in X-Forwarded-For where a request comes from.
	Proxies []netip.Prefix
	// Audit is told how each request that asks for an identity ended; nil: nobody is.
	Audit func(audit.Entry)
}

// An API answers requests with the handlers that were given to Handle.
type API struct {
	echo     *echo.Echo
	log      *slog.Logger
	metrics  *metrics
	guard    *Guard
	silence  time.Duration     // of a client that sends
	patience time.Duration     // with a client that does not read
	apps     map[string]string // by route pattern
	public   map[string]bool   // method and route pattern

	client     echo.IPExtractor // nil: whoever connects
	identifier Identifier
	take       func(identity.Identity, http.Header) error
	audit      func(audit.Entry)
}

// New makes an API without routes.
func New(opts Options) *API {
	a := &API{
		echo:     echo.New(),
		log:      opts.Logger,
		metrics:  newMetrics(opts.Registry),
		guard:    opts.Guard,
		silence:  bodySilence,
		patience: answerSilence,
		apps:     map[string]string{},
		public:   map[string]bool{},

		client:     clientBehind(opts.Proxies),
		identifier: opts.Identifier,
		take:       opts.Take,
		audit:      opts.Audit,
	}
	if a.identifier == nil {
		a.identifier = identity.Anybody{}
	}
	a.echo.Logger.SetOutput(io.Discard) // what it would say is said by observe
	a.echo.HTTPErrorHandler = func(err error, c echo.Context) { a.fail(c, err) }
	a.echo.Use(a.observe, a.guarded, a.identified)
	return a
}

// Public adds a route as Handle does, for whoever asks.
func (a *API) Public(method, path, app string, h echo.HandlerFunc) {
	a.public[method+" "+path] = true
	if method == http.MethodGet {
		a.public[http.MethodHead+" "+path] = true
	}
	a.Handle(method, path, app, h)
}

// Routes gives method and pattern of every route.
func (a *API) Routes() []*echo.Route { return a.echo.Routes() }

// Handle adds a route of an app, for those whose identity allows it. A GET route
// answers HEAD as well; OPTIONS, and 405 with Allow, come by themselves.
func (a *API) Handle(method, path, app string, h echo.HandlerFunc) {
	a.apps[path] = app
	a.echo.Add(method, path, h)
	if method == http.MethodGet {
		a.echo.Add(http.MethodHead, path, h)
	}
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.echo.ServeHTTP(w, r)
}

// guarded refuses what the guard refuses.
func (a *API) guarded(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := a.guard.Check(c.Request()); err != nil {
			return err
		}
		return next(c)
	}
}

// safeHeaders are on every answer: nothing of ours is to be guessed at,
// framed, embedded by other sites or kept. A handler may set others.
var safeHeaders = [...][2]string{
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Referrer-Policy", "no-referrer"},
	{"Cache-Control", "no-store"},
}

func setSafeHeaders(header http.Header) {
	for _, h := range safeHeaders {
		header.Set(h[0], h[1])
	}
}
