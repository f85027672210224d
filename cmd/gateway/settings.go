package main

import (
	"github.com/spf13/pflag"

	"sandgate/internal/quota"
)

// A group is the settings of one heading in --help.
type group struct {
	title string
	*pflag.FlagSet
}

// settings binds every setting to its field of c. A name in `quotes` is what
// --help calls the value.
func settings(c *Config) []group {
	var groups []group
	heading := func(title string) *pflag.FlagSet {
		set := pflag.NewFlagSet(title, pflag.ContinueOnError)
		set.SortFlags = false
		groups = append(groups, group{title, set})
		return set
	}

	f := heading("Addresses")
	f.StringVar(&c.Listen, "listen", c.Listen, "address of the apps, as `HOST:PORT`; port 0 takes a free one")
	f.StringVar(&c.AdminListen, "admin-listen", c.AdminListen, "address of /metrics, /healthz, /readyz and /debug/pprof, as `HOST:PORT`; empty: none")
	f.StringSliceVar(&c.AllowedHosts, "allowed-hosts", c.AllowedHosts, "host `NAMES` to answer for besides the loopback ones, separated by commas")
	f.StringSliceVar(&c.TrustedProxies, "trusted-proxies", c.TrustedProxies, "`ADDRESSES` and nets of the proxies whose X-Forwarded-For says where a request comes from, separated by commas; empty: none")
	f.BoolVar(&c.AllowUnauthenticated, "allow-unauthenticated", c.AllowUnauthenticated, "listen beyond loopback although everybody who gets there may run code")

	f = heading("Identity")
	f.StringVar(&c.Auth, "auth", c.Auth, "whom the gateway serves, a `MODE`: none (everybody is the one owner) or keys (who shows a key that gateway keys made)")
	f.StringSliceVar(&c.Quotas, "quota", c.Quotas, "what one owner may have, `CLASS.LIMIT=VALUE`, separated by commas: a key names its class, else it is default; the limits are "+quota.Names)
	f.StringVar(&c.AuditLog, "audit-log", c.AuditLog, "`FILE` of who did what, in lines of JSON; empty: none")

	f = heading("State")
	f.StringVar(&c.StateDir, "state-dir", c.StateDir, "`DIR` of workspaces, key and database; for root alone")
	f.StringVar(&c.Database, "database", c.Database, "`FILE` of the database; empty: db in the state directory")
	f.StringVar(&c.Objects, "objects", c.Objects, "`DIR` of logs, artifacts and backups, or s3://BUCKET/PREFIX?endpoint=URL&region=NAME; empty: objects in the state directory")

	f = heading("Sandboxes")
	f.StringVar(&c.Driver, "driver", c.Driver, "what makes sandboxes, a `NAME`: local (on this host)")
	f.StringVar(&c.Runtime, "runtime", c.Runtime, "OCI runtime, a `PROGRAM`: runsc, runc or a path; a name is looked for beside this program, then on PATH")
	f.StringVar(&c.Sandboxd, "sandboxd", c.Sandboxd, "the daemon inside sandboxes, a `PROGRAM` that is looked for like the runtime")
	f.StringVar(&c.Rootfs, "rootfs", c.Rootfs, "`DIR` of an unpacked image to show inside; empty: this host's /usr")
	f.Var((*span)(&c.SleepAfter), "sleep-after", "idle `TIME` after which a sandbox sleeps, with all that it has in memory; under runc it ends, and its workspace stays")
	f.BoolVar(&c.StayAwake, "stay-awake", c.StayAwake, "let processes that cells left in the background keep a sandbox from sleeping")
	f.Var((*span)(&c.Retention), "retention", "`TIME` after which a sandbox that nobody used is destroyed with its workspace; 0: never")
	f.Var(&c.SleepDisk, "sleep-disk", "what sleeping sandboxes may take of the disk together, a `SIZE`; the oldest lose their memory; 0: what the disk has")
	f.BoolVar(&c.AllowUnprovenIsolation, "allow-unproven-isolation", c.AllowUnprovenIsolation, "serve although the self-test could not show that sandboxes isolate")
	f.Var(&c.Memory, "memory", "memory of one sandbox, a `SIZE`")
	f.Float64Var(&c.CPUs, "cpus", c.CPUs, "processors of one sandbox, a `NUMBER` such as 0.5 or 2")
	f.IntVar(&c.Processes, "processes", c.Processes, "`NUMBER` of processes and threads in one sandbox")
	f.IntVar(&c.OpenFiles, "open-files", c.OpenFiles, "`NUMBER` of files that one process may have open")
	f.Var(&c.TmpSize, "tmp-size", "`SIZE` of /tmp, of the home directory and of /dev/shm, each")
	f.Var(&c.WorkspaceSize, "workspace-size", "`SIZE` of a new /workspace; 0: no limit but the disk's")
	f.IntVar(&c.MaxRunning, "max-running", c.MaxRunning, "`NUMBER` of sandboxes that run at once")
	f.Var(&c.MaxMemory, "max-memory", "what the sandboxes that run may use of memory together, a `SIZE`; 0: no limit but those of each")
	f.IntVar(&c.MaxSandboxes, "max-sandboxes", c.MaxSandboxes, "`NUMBER` of sandboxes that have a workspace, running or not")
	f.BoolVar(&c.Warm, "warm", c.Warm, "let the fresh sandboxes of the Code Runner and the Notebook begin with a Python that has started")
	f.IntVar(&c.Pool, "pool", c.Pool, "`NUMBER` of sandboxes that wait, warm, for who comes next")
	f.StringSliceVar(&c.Preload, "preload", c.Preload, "Python `MODULES` that a fresh sandbox has imported already, separated by commas")
	f.StringVar(&c.PythonEngine, "python-engine", c.PythonEngine, "what runs Python cells, an `ENGINE`: ipython, python (its standard library alone) or auto (IPython where it is installed)")

	f = heading("Egress")
	f.StringSliceVar(&c.Egress, "egress", c.Egress, "where the sandboxes of an app may connect to, `APP=POLICY`, separated by commas: none, allow-list or open (public addresses); testrunner=allow-list and none for the others unless said here")
	f.StringSliceVar(&c.EgressAllow, "egress-allow", c.EgressAllow, "more `HOSTS` for allow-list, as HOST or *.SUFFIX, with :PORT unless it is 443")
	f.BoolVar(&c.EgressDefaultHosts, "egress-default-hosts", c.EgressDefaultHosts, "have the common public git hosts on the list")
	f.StringSliceVar(&c.EgressAllowPrivate, "egress-allow-private", c.EgressAllowPrivate, "`HOST:PORT` that apps with egress may reach although its address is not public, separated by commas")
	f.StringVar(&c.EgressCA, "egress-ca", c.EgressCA, "PEM `FILE` of more authorities for sandboxes to trust")
	f.Var(&c.EgressProxy, "egress-proxy", "`URL` of the proxy that the gateway itself must use; empty: as HTTPS_PROXY and NO_PROXY say")
	f.Var(&c.EgressMaxBytes, "egress-max-bytes", "most that one run of a sandbox may send and receive, a `SIZE`")
	f.StringVar(&c.NPMRegistry, "npm-registry", c.NPMRegistry, "`URL` of the npm registry for sandboxes; empty: the one of this host's npm; none: none")
	f.Var(&c.NPMCache, "npm-cache", "`SIZE` of the cache of npm packages that sandboxes share and only read; 0: none, they ask the registry themselves")

	f = heading("Test runs")
	f.IntVar(&c.MaxRuns, "max-runs", c.MaxRuns, "`NUMBER` of test runs that work at once; others wait for their turn")
	f.IntVar(&c.MaxQueuedRuns, "max-queued-runs", c.MaxQueuedRuns, "`NUMBER` of test runs that may wait for their turn")
	f.Var((*span)(&c.RunTimeout), "run-timeout", "`TIME` that a test run may take if its request does not say")
	f.Var((*span)(&c.MaxRunTimeout), "max-run-timeout", "most `TIME` that a test run can ask for")
	f.Var((*span)(&c.RunRetention), "run-retention", "`TIME` for which a test run is kept after its end, with its events and artifacts")
	f.Var(&c.MaxArtifacts, "max-artifacts", "artifacts of one test run that are kept, a `SIZE`")
	f.Var(&c.TestMemory, "test-memory", "memory of the sandbox of a test run, a `SIZE`")
	f.Float64Var(&c.TestCPUs, "test-cpus", c.TestCPUs, "processors of the sandbox of a test run, a `NUMBER`")

	f = heading("Requests")
	f.IntVar(&c.MaxRequests, "max-requests", c.MaxRequests, "`NUMBER` of requests that are worked on at once; as many more may wait")
	f.IntVar(&c.MaxViewers, "max-viewers", c.MaxViewers, "`NUMBER` of clients that follow the events of an execution at once")
	f.Var((*span)(&c.QueueTime), "queue-time", "`TIME` that a request waits for its turn, and again for a sandbox to start; then it is told to come back")
	f.Var((*span)(&c.DefaultTimeout), "default-timeout", "`TIME` that code may run if the request does not say")
	f.Var((*span)(&c.MaxTimeout), "max-timeout", "most `TIME` that a request can ask for")
	f.Var(&c.MaxBody, "max-body", "most code that one request may bring, a `SIZE`")
	f.Var(&c.MaxUpload, "max-upload", "largest file that is taken, a `SIZE`")
	f.Var(&c.MaxBackup, "max-backup", "largest archive that a backup is kept as, or that is taken, a `SIZE`")
	f.Var(&c.KeepOutput, "keep-output", "output of one execution that is kept, a `SIZE`; more is dropped, which is told")
	f.Var(&c.MaxOutput, "max-output", "output of one execution that is borne, a `SIZE`; a program that prints more is ended")

	f = heading("Operation")
	f.StringVar(&c.LogLevel, "log-level", c.LogLevel, "`LEVEL` from which on is logged: debug, info, warn or error")
	f.StringVar(&c.LogFormat, "log-format", c.LogFormat, "`FORM` of the log on standard error: text or json")
	f.Var((*span)(&c.ShutdownGrace), "shutdown-grace", "`TIME` that open requests get to end when the gateway stops")
	return groups
}
