package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"sandgate/internal/store"
)

// A hazard is a combination of settings that is allowed and rarely meant.
type hazard struct {
	there bool
	words string
}

// tellHazards warns of what an operator should know before others get in.
func tellHazards(ctx context.Context, cfg Config, f *findings) {
	for _, h := range hazards(cfg, goodKeys(ctx, cfg)) {
		if h.there {
			f.skip("warning", h.words)
		}
	}
}

// hazards lists the combinations. keys is how many keys are good, -1 if that is
// not known.
func hazards(cfg Config, keys int) []hazard {
	asks := cfg.Auth == authKeys
	return []hazard{
		{!asks && beyond(cfg.Listen), fmt.Sprintf("whoever reaches %s may run code: --auth keys asks for keys", cfg.Listen)},
		{beyond(cfg.AdminListen), fmt.Sprintf("whoever reaches %s sees metrics and profiles, which asks nobody for a key: listen on loopback", cfg.AdminListen)},
		{asks && beyond(cfg.Listen), "keys and sessions go over the network in the clear: let a proxy that speaks TLS stand before it, or listen on loopback for one"},
		{asks && keys == 0, "there is no key that is good, so nobody gets in: gateway keys create --owner NAME"},
		{asks && filepath.Base(cfg.Runtime) == "runc", "under runc all owners share this kernel, and a bug in it is a way from one to another: --runtime runsc"},
		{asks && cfg.AllowUnprovenIsolation, "with --allow-unproven-isolation nothing shows that owners are kept apart"},
		{asks && len(cfg.Quotas) == 0, "one owner may take all that the gateway has: --quota bounds each"},
		{asks && cfg.AuditLog == "", "nobody can tell later who did what: --audit-log writes it down"},
		{checkCredentials(cfg) != nil, "this environment has no credentials for --objects: a gateway needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
	}
}

// beyond says whether an address can be reached from other machines.
func beyond(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && !loopback(host)
}

// goodKeys counts the keys that are good, if they are asked for, without making
// a database.
func goodKeys(ctx context.Context, cfg Config) int {
	if cfg.Auth != authKeys {
		return -1
	}
	if _, err := os.Stat(cfg.database()); err != nil {
		return 0
	}
	s, err := store.Open(ctx, cfg.database())
	if err != nil {
		return -1
	}
	defer s.Close()
	keys, err := s.ListKeys(ctx, "")
	if err != nil {
		return -1
	}
	good, now := 0, time.Now()
	for _, k := range keys {
		if k.State(now) == "active" {
			good++
		}
	}
	return good
}
