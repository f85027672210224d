package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"
)

// load reads a configuration from a file's text, an environment and arguments.
func load(t *testing.T, file string, environ []string, args ...string) (Config, []row, error) {
	t.Helper()
	p := newProgram()
	if file != "" {
		p.path = filepath.Join(t.TempDir(), "sandgate.yaml")
		if err := os.WriteFile(p.path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set := pflag.NewFlagSet("", pflag.ContinueOnError) // as cobra has one of its own
	set.AddFlagSet(p.noted)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	rows, err := p.load(func() []string { return environ })
	return p.config, rows, err
}

func TestLoad_defaultsAreFine(t *testing.T) {
	got, _, err := load(t, "", nil)
	if diff := cmp.Diff(defaults(), got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestLoad_layers(t *testing.T) {
	const file = "listen: 127.0.0.1:1\nstate-dir: /file\nmemory: 1GiB\nallowed-hosts: [a.org, b.org]\ncpus: 0.5\nprocesses: 100\nallow-unauthenticated: true\n"
	environ := []string{"SANDGATE_LISTEN=127.0.0.1:2", "SANDGATE_STATE_DIR=/env", "SANDGATE_SLEEP_AFTER=90s", "HOME=/root", "SANDGATE_CONFIG=x"}
	got, rows, err := load(t, file, environ, "--listen", "127.0.0.1:3", "--listen=127.0.0.1:4", "--log-format", "json")
	want := defaults()
	want.Listen = "127.0.0.1:4"
	want.StateDir = "/env"
	want.Memory = 1 << 30
	want.AllowedHosts = []string{"a.org", "b.org"}
	want.CPUs = 0.5
	want.Processes = 100
	want.AllowUnauthenticated = true
	want.SleepAfter = 90 * time.Second
	want.LogFormat = "json"
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	origins := map[string]string{}
	for _, r := range rows {
		origins[r.name] = r.origin
	}
	for name, origin := range map[string]string{
		"listen": "the command line", "state-dir": "the environment", "max-timeout": "the defaults",
	} {
		if origins[name] != origin {
			t.Errorf("%s is from %s, want %s", name, origins[name], origin)
		}
	}
	if !strings.HasSuffix(origins["memory"], "sandgate.yaml") {
		t.Errorf("memory is from %s", origins["memory"])
	}
}

func TestLoad_lists(t *testing.T) {
	for name, args := range map[string][]string{
		"commas":   {"--allowed-hosts", "a.org, b.org"},
		"repeated": {"--allowed-hosts", "a.org", "--allowed-hosts", "b.org"},
	} {
		got, _, err := load(t, "allowed-hosts: c.org\n", nil, args...)
		if diff := cmp.Diff([]string{"a.org", "b.org"}, got.AllowedHosts); err != nil || diff != "" {
			t.Error(name, err, diff)
		}
	}
}

// Everything that is wrong is told at once, with where it was said.
func TestLoad_allProblems(t *testing.T) {
	const file = "colour: red\nlimits:\n  memory: 1\nmemory: much\ncpus:\n"
	environ := []string{"SANDGATE_PROCESES=4", "SANDGATE_PROCESSES=four", "SANDGATE_SLEEP_AFTER=10"}
	_, _, err := load(t, file, environ, "--listen", "0.0.0.0:80", "--log-level=loud", "--keep-output=10EB", "--allow-unauthenticated=perhaps")
	if err == nil {
		t.Fatal("no problem was found")
	}
	for _, want := range []string{
		"colour (from ", "sandgate.yaml): there is no such setting",
		"limits.memory (from ",
		`memory (from `, `"much" is no size such as 512MiB or 2GB`,
		`"" is no number`,
		"proceses (from the environment): there is no such setting",
		`processes (from the environment): "four" is no whole number`,
		`sleep-after (from the environment): "10" is no duration such as 90s, 10m or 30d`,
		`allow-unauthenticated (from the command line): "perhaps" is no true or false`,
		"listen: 0.0.0.0:80 can be reached from other machines",
		`log-level: "loud" is none of: debug, info, warn, error`,
		`keep-output (from the command line): "10EB" is no size`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("not told: %s\n%v", want, err)
		}
	}
}

func TestLoad_file(t *testing.T) {
	for name, file := range map[string]string{
		"no YAML":    "a: [",
		"twice":      "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n",
		"no mapping": "- a\n",
	} {
		if _, _, err := load(t, file, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p := newProgram()
	p.path = filepath.Join(t.TempDir(), "missing.yaml")
	if _, err := p.load(func() []string { return nil }); err == nil || !strings.Contains(err.Error(), "missing.yaml") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestCheck(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Config)
		want   string // "" for fine
	}{
		"localhost":       {func(c *Config) { c.Listen = "localhost:0" }, ""},
		"IPv6":            {func(c *Config) { c.Listen = "[::1]:8787" }, ""},
		"no admin":        {func(c *Config) { c.AdminListen = "" }, ""},
		"open, allowed":   {func(c *Config) { c.Listen, c.AllowUnauthenticated = ":8787", true }, ""},
		"every address":   {func(c *Config) { c.Listen = ":8787" }, "listen: :8787 can be reached from other machines"},
		"a name":          {func(c *Config) { c.Listen = "sandgate.example.org:80" }, "listen: sandgate.example.org:80 can be reached"},
		"open admin":      {func(c *Config) { c.AdminListen = "192.0.2.1:1" }, "admin-listen: 192.0.2.1:1 can be reached"},
		"no port":         {func(c *Config) { c.Listen = "127.0.0.1" }, `listen: "127.0.0.1" is no HOST:PORT`},
		"no such port":    {func(c *Config) { c.Listen = "127.0.0.1:65536" }, `is no HOST:PORT`},
		"empty":           {func(c *Config) { c.Listen = "" }, `listen: "" is no HOST:PORT`},
		"URL as host":     {func(c *Config) { c.AllowedHosts = []string{"https://a.org"} }, "allowed-hosts: "},
		"proxies":         {func(c *Config) { c.TrustedProxies = []string{"127.0.0.1", "10.0.0.0/8", "::1"} }, ""},
		"proxy's name":    {func(c *Config) { c.TrustedProxies = []string{"proxy.example.org"} }, `trusted-proxies: "proxy.example.org" is no address`},
		"no such net":     {func(c *Config) { c.TrustedProxies = []string{"10.0.0.0/33"} }, `trusted-proxies: "10.0.0.0/33" is no address`},
		"every proxy":     {func(c *Config) { c.TrustedProxies = []string{"0.0.0.0/0"} }, `trusted-proxies: with "0.0.0.0/0" everybody would be a proxy`},
		"proxies, mapped": {func(c *Config) { c.TrustedProxies = []string{"::ffff:0.0.0.0/96"} }, `trusted-proxies: with "::ffff:0.0.0.0/96" everybody would be a proxy`},
		"driver":          {func(c *Config) { c.Driver = "docker" }, `driver: "docker" is none of: local`},
		"relative state":  {func(c *Config) { c.StateDir = "state" }, `state-dir: "state" is no absolute path`},
		"relative rootfs": {func(c *Config) { c.Rootfs = "image" }, `rootfs: "image" is no absolute path`},
		"S3":              {func(c *Config) { c.Objects = "s3://bucket/prefix?endpoint=http://127.0.0.1:1" }, ""},
		"relative store":  {func(c *Config) { c.Objects = "objects" }, "objects: must be an absolute path, or s3://BUCKET/PREFIX"},
		"a server":        {func(c *Config) { c.Objects = "http://x/bucket" }, "objects: must be an absolute path, or s3://BUCKET/PREFIX"},
		"no bucket":       {func(c *Config) { c.Objects = "s3://" }, "objects: the address names no bucket"},
		"credentials":     {func(c *Config) { c.Objects = "s3://a:b@bucket" }, "objects: credentials do not belong into the address"},
		"relative audit":  {func(c *Config) { c.AuditLog = "audit.log" }, `audit-log: "audit.log" is no absolute path`},
		"audit nowhere":   {func(c *Config) { c.AuditLog = "/nonexistent/audit.log" }, "audit-log: there is no directory /nonexistent"},
		"audit in a file": {func(c *Config) { c.AuditLog = "/dev/null/audit.log" }, "audit-log: /dev/null is no directory"},
		"audit in state":  {func(c *Config) { c.StateDir, c.AuditLog = "/nonexistent/state", "/nonexistent/state/audit.log" }, ""},
		"audit above":     {func(c *Config) { c.StateDir, c.AuditLog = "/nonexistent/state/", "/nonexistent/audit.log" }, ""},
		"quota":           {func(c *Config) { c.Quotas = []string{"a.rate"} }, `quota: "a.rate" is no CLASS.LIMIT=VALUE`},
		"no workspace":    {func(c *Config) { c.Quotas = []string{"a.disk=1GiB"} }, "quota: a.disk is 1GiB, and a workspace counts with all of workspace-size, 2GiB"},
		"one workspace":   {func(c *Config) { c.Quotas = []string{"a.disk=2GiB"} }, ""},
		"small ones":      {func(c *Config) { c.Quotas, c.WorkspaceSize = []string{"a.disk=1GiB"}, 16<<20 }, ""},
		"unlimited ones":  {func(c *Config) { c.Quotas, c.WorkspaceSize = []string{"a.disk=1MiB"}, 0 }, ""},
		"burst alone":     {func(c *Config) { c.Quotas = []string{"a.burst=5", "b.rate=1"} }, "quota: a.burst says nothing without a.rate"},
		"burst and rate":  {func(c *Config) { c.Quotas = []string{"a.burst=5", "a.rate=1"} }, ""},
		"memory":          {func(c *Config) { c.Memory = 1 << 20 }, "memory: must be at least 64MiB"},
		"no CPU":          {func(c *Config) { c.CPUs = 0 }, "cpus: must be at least 0.01"},
		"CPUs for ever":   {func(c *Config) { c.CPUs = math.Inf(1) }, "cpus: must be at most 65536"},
		"CPUs of no kind": {func(c *Config) { c.TestCPUs = math.NaN() }, "test-cpus: must be at least 0.01"},
		"output":          {func(c *Config) { c.MaxOutput = 1 << 20 }, "max-output: 1MiB is less than keep-output, 10MiB"},
		"timeouts":        {func(c *Config) { c.MaxTimeout = time.Second }, "default-timeout: 1m is more than max-timeout, 1s"},
		"kept too short":  {func(c *Config) { c.SleepAfter = 960 * time.Hour }, "retention: 30d is no longer than sleep-after, 40d"},
		"no requests":     {func(c *Config) { c.MaxRequests = 0 }, "max-requests: must be at least 1"},
		"no queue":        {func(c *Config) { c.QueueTime = 0 }, "queue-time: must be more than 0"},
		"sleep":           {func(c *Config) { c.SleepAfter = 0 }, "sleep-after: must be more than 0"},
		"grace":           {func(c *Config) { c.ShutdownGrace = -1 }, "shutdown-grace: must not be less than 0"},
		"no grace":        {func(c *Config) { c.ShutdownGrace = 0 }, ""},
	} {
		c := defaults()
		tc.change(&c)
		wrong := check(c)
		if tc.want == "" && len(wrong) > 0 || tc.want != "" && (len(wrong) != 1 || !strings.Contains(wrong[0], tc.want)) {
			t.Errorf("%s: %q, want %q", name, []string(wrong), tc.want)
		}
	}
}

// Credentials are asked for where they are used, and not of who lists keys.
func TestCheckCredentials(t *testing.T) {
	c := defaults()
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if err := checkCredentials(c); err != nil {
		t.Errorf("a directory: %v", err)
	}
	c.Objects = "s3://bucket"
	if err := checkCredentials(c); err == nil || len(check(c)) != 0 {
		t.Errorf("without: %v, %v", err, check(c))
	}
	if warned := there(hazards(c, 0)); len(warned) != 1 {
		t.Errorf("doctor: %v", warned)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	if err := checkCredentials(c); err != nil {
		t.Errorf("with: %v", err)
	}
}

// What config is asked for it refuses as serving does, and it repeats no secret.
func TestConfig_wrongObjects(t *testing.T) {
	exit, out, words := do(t, "config", "--objects", "https://id:secret@s3.example.org/bucket", "--cpus", "0")
	if exit != exitUsage || out != "" || !strings.Contains(words, "objects: ") || !strings.Contains(words, "cpus: ") || strings.Contains(words, "secret") {
		t.Errorf("exit %d\n%s\n%s", exit, out, words)
	}
}

func TestHosts(t *testing.T) {
	for listen, want := range map[string][]string{
		"127.0.0.1:1": {"127.0.0.1", "a.org"}, "b.org:1": {"b.org", "a.org"}, ":1": {"a.org"}, "0.0.0.0:1": {"a.org"}, "[::]:1": {"a.org"},
	} {
		if diff := cmp.Diff(want, (Config{Listen: listen, AllowedHosts: []string{"a.org"}}).hosts()); diff != "" {
			t.Error(listen, diff)
		}
	}
}

// What config prints, --config reads: the same configuration comes out.
func TestPrintConfig_roundTrip(t *testing.T) {
	args := []string{
		"--allowed-hosts=a.org,b.org", "--memory=1500MB", "--admin-listen=", "--state-dir=/with blank: and # sign",
		"--sleep-after=1h30m", "--cpus=1.5", "--listen=[::1]:0", "--egress=notebook=open,files=none", "--egress-allow=*.a.org:80,[2001:db8::1]:443",
	}
	want, rows, err := load(t, "", nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := printConfig(&file, rows); err != nil {
		t.Fatal(err)
	}
	got, _, err := load(t, file.String(), nil)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Error(err, diff, file.String())
	}
}

func TestSpan(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "0d": "0", "30d": "30d", "720h": "30d", "1d12h": "36h", "60s": "1m", "90s": "1m30s", "1h30m": "90m", "-24h": "-24h0m0s", "1500ms": "1.5s",
	} {
		var s, again span
		if err := s.Set(text); err != nil || s.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, &s, err, want)
		}
		if err := again.Set(s.String()); err != nil || again != s {
			t.Errorf("%s is %v, read again %v, %v", text, time.Duration(s), time.Duration(again), err)
		}
	}
	for _, text := range []string{"", "10", "d", "-1d", "1.5d", "1d1", "1d25h", "40000d"} {
		var s span
		if err := s.Set(text); err == nil {
			t.Errorf("%q is %s", text, &s)
		}
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]string{
		"512MiB": "512MiB", "1GiB": "1GiB", "2GB": "1953125KiB", "1048576": "1MiB", "0": "0", "1.5KiB": "1536", "1": "1", "4096TiB": "4096TiB",
	} {
		var s size
		if err := s.Set(text); err != nil || s.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, &s, err, want)
		}
	}
	for _, text := range []string{"", "much", "-1", "1Gx", "16EiB", "NaN"} {
		var s size
		if err := s.Set(text); err == nil {
			t.Errorf("%q is %s", text, &s)
		}
	}
}
