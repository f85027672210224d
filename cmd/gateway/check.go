package main

import (
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// check finds what no layer can be blamed for alone: values out of range, and
// settings that contradict each other.
func check(c Config) problems {
	var wrong problems
	checkAddresses(&wrong, c)
	checkChoice(&wrong, "driver", c.Driver, "local")
	checkChoice(&wrong, "python-engine", c.PythonEngine, "auto", "ipython", "python")
	checkChoice(&wrong, "log-level", c.LogLevel, "debug", "info", "warn", "error")
	checkChoice(&wrong, "log-format", c.LogFormat, "text", "json")
	if !filepath.IsAbs(c.StateDir) {
		wrong.addf("state-dir: %q is no absolute path", c.StateDir)
	}
	if c.Rootfs != "" && !filepath.IsAbs(c.Rootfs) {
		wrong.addf("rootfs: %q is no absolute path", c.Rootfs)
	}
	checkObjects(&wrong, c.Objects)
	checkIdentity(&wrong, c)
	checkEgress(&wrong, c)
	checkNumbers(&wrong, c)
	checkTimes(&wrong, c)
	return wrong
}

func checkChoice(wrong *problems, name, value string, choices ...string) {
	if !slices.Contains(choices, value) {
		wrong.addf("%s: %q is none of: %s", name, value, strings.Join(choices, ", "))
	}
}

func checkAddresses(wrong *problems, c Config) {
	for name, address := range map[string]string{"listen": c.Listen, "admin-listen": c.AdminListen} {
		if address == "" && name == "admin-listen" {
			continue
		}
		host, port, err := net.SplitHostPort(address)
		if number, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || number > 65535 {
			wrong.addf("%s: %q is no HOST:PORT such as 127.0.0.1:8787", name, address)
			continue
		}
		asksNobody := c.Auth == authNone || name == "admin-listen"
		if asksNobody && !loopback(host) && !c.AllowUnauthenticated {
			wrong.addf("%s: %s can be reached from other machines, and the gateway asks nobody who they are: "+
				"listen on a loopback address, ask for keys with --auth keys (the apps' address alone does), or add --allow-unauthenticated if everybody who gets there may run code",
				name, address)
		}
	}
	checkProxies(wrong, c)
	for _, host := range c.AllowedHosts {
		if host == "" || strings.ContainsAny(host, "/ *") {
			wrong.addf("allowed-hosts: %q is no host name such as sandgate.example.org", host)
		}
	}
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// maxCPUs is more than any machine has.
const maxCPUs = 1 << 16

func checkNumbers(wrong *problems, c Config) {
	atLeast := func(name string, value, least float64, say string) {
		if !(value >= least) {
			wrong.addf("%s: must be at least %s", name, say)
		}
	}
	atLeast("memory", float64(c.Memory), 64<<20, "64MiB: sandboxd and an interpreter need as much")
	atLeast("cpus", c.CPUs, 0.01, "0.01")
	atLeast("test-memory", float64(c.TestMemory), 64<<20, "64MiB: sandboxd and npm need as much")
	atLeast("test-cpus", c.TestCPUs, 0.01, "0.01")
	for name, value := range map[string]float64{"cpus": c.CPUs, "test-cpus": c.TestCPUs} {
		if value > maxCPUs { // infinity is a number too
			wrong.addf("%s: must be at most %d", name, maxCPUs)
		}
	}
	atLeast("max-runs", float64(c.MaxRuns), 1, "1")
	atLeast("max-queued-runs", float64(c.MaxQueuedRuns), 0, "0")
	atLeast("processes", float64(c.Processes), 16, "16")
	atLeast("open-files", float64(c.OpenFiles), 64, "64")
	atLeast("tmp-size", float64(c.TmpSize), 1<<20, "1MiB")
	if c.WorkspaceSize != 0 {
		atLeast("workspace-size", float64(c.WorkspaceSize), 16<<20, "16MiB, or 0 for no limit")
	}
	atLeast("max-running", float64(c.MaxRunning), 1, "1")
	if c.MaxMemory != 0 {
		atLeast("max-memory", float64(c.MaxMemory), 128<<20, "128MiB, or 0 for no limit")
	}
	atLeast("pool", float64(c.Pool), 0, "0")
	if c.Pool >= c.MaxRunning {
		wrong.addf("pool: %d sandboxes would leave no place for others among the %d that may run", c.Pool, c.MaxRunning)
	}
	atLeast("max-sandboxes", float64(c.MaxSandboxes), 1, "1")
	atLeast("max-requests", float64(c.MaxRequests), 1, "1")
	atLeast("max-viewers", float64(c.MaxViewers), 1, "1")
	atLeast("max-body", float64(c.MaxBody), 1, "1")
	atLeast("max-upload", float64(c.MaxUpload), 1, "1")
	atLeast("max-backup", float64(c.MaxBackup), 1, "1")
	atLeast("keep-output", float64(c.KeepOutput), 1, "1")
	if c.MaxOutput < c.KeepOutput {
		wrong.addf("max-output: %s is less than keep-output, %s", &c.MaxOutput, &c.KeepOutput)
	}
}

func checkTimes(wrong *problems, c Config) {
	for name, value := range map[string]time.Duration{
		"sleep-after": c.SleepAfter, "default-timeout": c.DefaultTimeout, "max-timeout": c.MaxTimeout,
		"queue-time": c.QueueTime, "run-timeout": c.RunTimeout, "run-retention": c.RunRetention,
	} {
		if value <= 0 {
			wrong.addf("%s: must be more than 0", name)
		}
	}
	if c.DefaultTimeout > c.MaxTimeout {
		wrong.addf("default-timeout: %s is more than max-timeout, %s", (*span)(&c.DefaultTimeout), (*span)(&c.MaxTimeout))
	}
	if c.RunTimeout > c.MaxRunTimeout {
		wrong.addf("run-timeout: %s is more than max-run-timeout, %s", (*span)(&c.RunTimeout), (*span)(&c.MaxRunTimeout))
	}
	if c.Retention < 0 {
		wrong.addf("retention: must not be less than 0, which means never")
	}
	if c.Retention > 0 && c.Retention <= c.SleepAfter {
		wrong.addf("retention: %s is no longer than sleep-after, %s", (*span)(&c.Retention), (*span)(&c.SleepAfter))
	}
	if c.ShutdownGrace < 0 {
		wrong.addf("shutdown-grace: must not be less than 0")
	}
}
