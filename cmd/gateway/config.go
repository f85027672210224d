package main

import (
	"net"
	"net/netip"
	"path/filepath"
	"time"

	"sandgate/handlers/coderunner"
	"sandgate/handlers/notebook"
	"sandgate/internal/runs"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// Config is everything that can be chosen. Each field has one flag, one name in
// the environment and one in the file; see settings.
type Config struct {
	Listen               string
	AdminListen          string
	AllowedHosts         []string
	TrustedProxies       []string
	AllowUnauthenticated bool

	Auth     string
	Quotas   []string
	AuditLog string

	AllowUnprovenIsolation bool

	StateDir string
	Database string
	Objects  string

	Driver     string
	Runtime    string
	Sandboxd   string
	Rootfs     string
	SleepAfter time.Duration
	StayAwake  bool
	Retention  time.Duration
	SleepDisk  size
	Memory     size
	CPUs       float64
	Processes  int
	OpenFiles  int
	TmpSize    size

	WorkspaceSize size

	Warm         bool
	Pool         int
	Preload      []string
	PythonEngine string

	Egress             []string
	EgressAllow        []string
	EgressDefaultHosts bool
	EgressAllowPrivate []string
	EgressCA           string
	EgressProxy        proxyURL
	EgressMaxBytes     size
	NPMRegistry        string
	NPMCache           size

	MaxRuns       int
	MaxQueuedRuns int
	RunTimeout    time.Duration
	MaxRunTimeout time.Duration
	RunRetention  time.Duration
	MaxArtifacts  size
	TestMemory    size
	TestCPUs      float64

	DefaultTimeout time.Duration
	MaxTimeout     time.Duration
	MaxBody        size
	MaxUpload      size
	MaxBackup      size
	KeepOutput     size
	MaxOutput      size

	MaxRequests  int
	MaxViewers   int
	MaxRunning   int
	MaxMemory    size
	MaxSandboxes int
	QueueTime    time.Duration

	LogLevel      string
	LogFormat     string
	ShutdownGrace time.Duration
}

// defaults are safe on a small machine.
func defaults() Config {
	limits := sandboxclient.DefaultLimits()
	return Config{
		Listen:        "127.0.0.1:8787",
		AdminListen:   "127.0.0.1:8788",
		Auth:          authNone,
		StateDir:      "/var/lib/sandgate",
		Driver:        "local",
		Runtime:       "runsc",
		Sandboxd:      "sandboxd",
		SleepAfter:    10 * time.Minute,
		Retention:     30 * 24 * time.Hour,
		Memory:        size(limits.MemoryBytes),
		CPUs:          limits.CPUs,
		Processes:     limits.Processes,
		OpenFiles:     limits.OpenFiles,
		TmpSize:       size(limits.TmpBytes),
		WorkspaceSize: size(limits.WorkspaceBytes),
		Warm:          true,
		Pool:          1,
		PythonEngine:  "auto",

		EgressDefaultHosts: true,
		EgressMaxBytes:     4 << 30,
		NPMCache:           2 << 30,

		MaxRuns:       2,
		MaxQueuedRuns: 20,
		RunTimeout:    15 * time.Minute,
		MaxRunTimeout: time.Hour,
		RunRetention:  7 * 24 * time.Hour,
		MaxArtifacts:  256 << 20,
		TestMemory:    2 << 30,
		TestCPUs:      2,

		DefaultTimeout: time.Minute,
		MaxTimeout:     time.Hour,
		MaxBody:        4 << 20,
		MaxUpload:      1 << 30,
		MaxBackup:      16 << 30,
		KeepOutput:     10 << 20,
		MaxOutput:      1 << 30,
		MaxRequests:    256,
		MaxViewers:     2000,
		MaxRunning:     100,
		MaxSandboxes:   10_000,
		QueueTime:      10 * time.Second,
		LogLevel:       "info",
		LogFormat:      "text",
		ShutdownGrace:  10 * time.Second,
	}
}

// database is the path of the database, which lies in the state directory
// unless it was put elsewhere.
func (c Config) database() string {
	if c.Database != "" {
		return c.Database
	}
	return filepath.Join(c.StateDir, "db")
}

// limits are those of every sandbox.
func (c Config) limits() sandboxclient.Limits {
	return sandboxclient.Limits{
		MemoryBytes: int64(c.Memory),
		CPUs:        c.CPUs,
		Processes:   c.Processes,
		OpenFiles:   c.OpenFiles,
		TmpBytes:    int64(c.TmpSize),

		WorkspaceBytes: int64(c.WorkspaceSize),
	}
}

// objects is the directory of large things, which lies in the state directory
// unless it was put elsewhere.
func (c Config) objects() string {
	if c.Objects != "" {
		return c.Objects
	}
	return filepath.Join(c.StateDir, "objects")
}

// appLimits are those of the sandboxes that need more than others.
func (c Config) appLimits() map[string]sandboxclient.Limits {
	tests := c.limits()
	tests.MemoryBytes, tests.CPUs = int64(c.TestMemory), c.TestCPUs
	return map[string]sandboxclient.Limits{runs.App: tests}
}

// appTimeouts are the ceilings of what runs longer than others may.
func (c Config) appTimeouts() map[string]time.Duration {
	return map[string]time.Duration{runs.App: c.MaxRunTimeout}
}

// output is how much of an execution's output is kept and borne.
func (c Config) output() wire.Output {
	return wire.Output{Keep: int64(c.KeepOutput), Max: int64(c.MaxOutput)}
}

// contextEnv is the environment that every code context is made with.
func (c Config) contextEnv() map[string]string {
	if c.PythonEngine == "auto" {
		return nil
	}
	return map[string]string{"SANDGATE_PYTHON_ENGINE": c.PythonEngine}
}

// hosts are the host names to answer for: those that were named, and the one
// that is listened on.
func (c Config) hosts() []string {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil || host == "" || unspecified(host) {
		return c.AllowedHosts
	}
	return append([]string{host}, c.AllowedHosts...)
}

func unspecified(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsUnspecified()
}

// warmth is what sandboxes begin with in whose apps Python is the rule.
func (c Config) warmth() sandboxclient.Warmth {
	if !c.Warm {
		return sandboxclient.Warmth{}
	}
	return sandboxclient.Warmth{Apps: []string{coderunner.App, notebook.App}, Preload: c.Preload}
}
