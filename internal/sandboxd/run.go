package sandboxd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"sandgate/internal/sandboxd/archive"
	"sandgate/internal/sandboxd/awake"
	"sandgate/internal/sandboxd/codecontext"
	"sandgate/internal/sandboxd/execution"
	"sandgate/internal/sandboxd/link"
	"sandgate/internal/sandboxd/memory"
	"sandgate/internal/sandboxd/proxy"
	"sandgate/internal/sandboxd/reaper"
	"sandgate/internal/sandboxd/shim"
	"sandgate/internal/sandboxd/workspace"
	"sandgate/sandboxclient/wire"
)

const (
	workspaceDir = "/workspace"
	// shutdownGrace is what requests have to end once everything else has.
	shutdownGrace = time.Second
)

// Run is the program: args without its name. It returns the exit code.
func Run(args []string, stdout, stderr io.Writer) int {
	switch {
	case len(args) == 0:
		return serve(slog.New(slog.NewTextHandler(stderr, nil)))
	case len(args) == 1 && args[0] == "shim":
		return shim.Main()
	case len(args) == 1 && args[0] == "version":
		fmt.Fprintf(stdout, "sandboxd, protocol %d\n", wire.Version)
		return 0
	}
	fmt.Fprintln(stderr, "usage: sandboxd [version]")
	return 2
}

// serve answers the gateway until SIGTERM.
func serve(log *slog.Logger) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	go reaper.Run(ctx)
	files, err := workspace.Open(workspaceDir, log)
	if err != nil {
		log.Error("sandboxd cannot open the workspace", "error", err)
		return 1
	}
	defer files.Close()
	tidy(ctx, files, log)
	archives, err := archive.Open(ctx, workspaceDir, files, log)
	if err != nil {
		log.Error("sandboxd cannot open the workspace", "error", err)
		return 1
	}
	defer archives.Close()
	pool := shim.NewPool("/proc/self/exe", os.Args[0], "shim")
	starter := shim.Starter(pool)
	limit, guarded := memoryLimit()
	if guarded {
		guard := memory.NewGuard(pool, log)
		go guard.Watch(ctx)
		starter = guard
	}
	clock := new(awake.Clock)
	executions := execution.NewRegistry(execution.Options{Dir: workspaceDir, Memory: limit, Clock: clock})
	left := new(background)
	contexts := codecontext.NewSet(interpreters(starter, clock, left), clock)
	s := newServer(log, files, executions, pool, starter, contexts)
	s.background = left
	gateway := link.New(wire.LinkDir, func(asleep time.Duration) {
		clock.Slept(asleep)
		s.moved(ctx)
	})
	clock.Ask(gateway.Look)
	s.archives = archives
	s.egress = egress{dir: bundleDir, proxy: proxy.Options{
		Dial:    gateway.DialOutside,
		Refused: (&refusals{executions: s.executions}).tell,
	}}
	return s.serve(ctx, gateway)
}

// memoryLimit is what the sandbox may use, where that is told to us.
func memoryLimit() (limit int64, told bool) {
	text, told := os.LookupEnv(wire.MemoryVariable)
	limit, _ = strconv.ParseInt(text, 10, 64) // the gateway's own words
	return limit, told
}

func newServer(log *slog.Logger, files *workspace.Workspace, executions *execution.Registry, pool *shim.Pool, starter shim.Starter, contexts *codecontext.Set) *server {
	return &server{
		log:        log,
		started:    time.Now().UTC(),
		pool:       pool,
		starter:    starter,
		executions: executions,
		contexts:   contexts,
		background: new(background),
		files:      files,
	}
}

// serve returns when ctx has ended, and requests with it.
func (s *server) serve(ctx context.Context, l *link.Listener) int {
	h := &http.Server{
		Handler:   s.routes(),
		ConnState: l.ConnState,
		ErrorLog:  slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	unbind := context.AfterFunc(ctx, func() { s.end(); l.Close() })
	defer unbind()
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
		s.log.Error("sandboxd cannot serve", "error", err)
		return 1
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if h.Shutdown(bounded) != nil {
		h.Close()
	}
	return 0
}

// end ends everything that runs.
func (s *server) end() {
	s.egress.close()
	s.executions.Close()
	s.contexts.Close()
	s.pool.Close()
}
