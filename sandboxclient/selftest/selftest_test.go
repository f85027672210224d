package selftest

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
)

func TestMain(m *testing.M) { os.Exit(sandboxtest.Main(m)) }

// good is what a sandbox that isolates shows.
func good() sections {
	return sections{
		"status": "Uid:\t20000\t20000\t20000\t20000\nGid:\t20000\t20000\t20000\t20000\nCapInh:\t0000\nCapPrm:\t0000\nCapEff:\t0000\nCapAmb:\t0000\nNoNewPrivs:\t1",
		"kernel": "Linux version 4.19.0-gvisor", "init": "sandboxd",
		"interfaces":   "Inter-| Receive\n face |bytes\n    lo: 0 0",
		"mounts":       "none / 9p rw 0 0\nnone /usr 9p ro,nosuid 0 0",
		"usr-writable": "no", "workspace-writable": "yes", "run-readable": "yes", "link-readable": "no", "token-readable": "no",
		"open-files": "4096", "ulimits": "time(seconds) unlimited\nprocess              512", "memory": "MemTotal:  1048576 kB",
		"workspace-blocks": "500000 4096", "tmp-blocks": "65536 4096",
	}
}

func claimed() sandboxclient.Capabilities {
	limit := func(name string, value float64) sandboxclient.Limit {
		return sandboxclient.Limit{Name: name, Value: value, Enforced: true}
	}
	return sandboxclient.Capabilities{
		Engine: sandboxclient.Engine{OwnKernel: true},
		Limits: []sandboxclient.Limit{
			limit(sandboxclient.LimitMemory, 1<<30), limit(sandboxclient.LimitProcesses, 512), limit(sandboxclient.LimitOpenFiles, 4096),
			limit(sandboxclient.LimitWorkspace, 2<<30), limit(sandboxclient.LimitDisposable, 256<<20), limit("output", 1),
		},
	}
}

func TestJudge_whatIsolates(t *testing.T) {
	report := Report{Checks: judge(good(), claimed())}
	if err := report.Err(); err != nil || len(report.Checks) != 13 {
		t.Errorf("%d checks: %v", len(report.Checks), err)
	}
}

// Each single fault is found, and no other check blames itself for it.
func TestJudge_faults(t *testing.T) {
	for check, fault := range map[string]struct{ section, from, to string }{
		"user":                    {"status", "Uid:\t20000\t20000", "Uid:\t20000\t0"},
		"capabilities":            {"status", "CapEff:\t0000", "CapEff:\t0080"},
		"no new privileges":       {"status", "NoNewPrivs:\t1", "NoNewPrivs:\t0"},
		"network":                 {"interfaces", "lo: 0 0", "lo: 0 0\n  eth0: 1 1"},
		"read-only system":        {"mounts", "/usr 9p ro", "/usr 9p rw"},
		"gateway's link":          {"token-readable", "no", "yes"},
		"processes":               {"init", "sandboxd", "systemd"},
		"kernel":                  {"kernel", "4.19.0-gvisor", "6.1.0"},
		"limit of openFiles":      {"open-files", "4096", "unlimited"},
		"limit of processes":      {"ulimits", "512", "unlimited"},
		"limit of memory":         {"memory", "1048576", "9000000"},
		"limit of workspaceDisk":  {"workspace-blocks", "500000", "900000"},
		"limit of disposableDisk": {"tmp-blocks", "65536 4096", ""},
	} {
		s := good()
		s[fault.section] = strings.Replace(s[fault.section], fault.from, fault.to, 1)
		var missing []string
		for _, c := range judge(s, claimed()) {
			if !c.Proven {
				missing = append(missing, c.Name)
			}
			if c.Proven != (c.Remedy == "") {
				t.Errorf("%s: remedy %q", c.Name, c.Remedy)
			}
		}
		if !slices.Equal(missing, []string{check}) {
			t.Errorf("without %s: not proven are %q", check, missing)
		}
	}
}

// What the probe did not print proves nothing.
func TestJudge_silence(t *testing.T) {
	for section := range maps.Keys(good()) {
		s := good()
		delete(s, section)
		if (Report{Checks: judge(s, claimed())}).Proven() {
			t.Errorf("isolation is proven without %s", section)
		}
	}
	if (Report{}).Proven() {
		t.Error("isolation is proven without a look")
	}
}

func TestSplit(t *testing.T) {
	got := split("\n=== a\none\ntwo\n\n=== b\n\n=== c\nlast")
	if got["a"] != "one\ntwo" || got["b"] != "" || got["c"] != "last" {
		t.Errorf("%q", got)
	}
}

func TestMaxProcesses_inOtherShells(t *testing.T) {
	s := sections{"ulimits": "max memory size (kbytes, -m) unlimited\nmax user processes                  (-u) 77"}
	if got, ok := s.maxProcesses(); !ok || got != 77 {
		t.Errorf("%v, %v", got, ok)
	}
}

func TestRun_inARealSandbox(t *testing.T) {
	client := sandboxtest.New(t, sandboxclient.Options{})
	capabilities, err := client.Capabilities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), client.Sandbox(sandboxclient.Ref{Owner: "o", App: "a", Name: "n"}), capabilities)
	if err != nil || report.Err() != nil {
		t.Fatalf("%v, %v", err, report.Err())
	}
	for _, l := range report.Languages {
		t.Logf("%+v", l)
		if l.Name == "python" && !l.Available {
			t.Errorf("python: %s", l.Reason)
		}
	}
}
