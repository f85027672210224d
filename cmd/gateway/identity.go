package main

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sandgate/handlers/session"
	"sandgate/internal/audit"
	"sandgate/internal/httpapi"
	"sandgate/internal/identity"
	"sandgate/internal/quota"
	"sandgate/internal/store"
)

// Whom the gateway serves.
const (
	authNone = "none" // everybody, as one owner
	authKeys = "keys"
)

// checkIdentity finds what is wrong with who is served and how much they get.
func checkIdentity(wrong *problems, c Config) {
	checkChoice(wrong, "auth", c.Auth, authNone, authKeys)
	checkQuotas(wrong, c)
	checkAuditLog(wrong, c)
}

// newQuotas makes the book of what owners may have. The settings were checked.
func newQuotas(cfg Config, records *store.Store, registry prometheus.Registerer) *quota.Book {
	classes, _ := quota.Parse(cfg.Quotas)
	if cfg.Auth != authKeys { // keys that were made before say nothing
		return quota.NewBook(classes, nil, registry)
	}
	return quota.NewBook(classes, func(ctx context.Context, owner string) (string, error) {
		return records.ClassOf(ctx, owner, time.Now())
	}, registry)
}

// A door says who requests come from, and lets browsers in.
type door interface {
	httpapi.Identifier
	session.Door
	keyChecker
}

func newDoor(cfg Config, keys identity.Keys, sessions identity.Sessions, log *slog.Logger) door {
	if cfg.Auth == authKeys {
		return identity.NewKeyring(keys, sessions, log)
	}
	return identity.Anybody{}
}

// sessionRoutes lists what tells browsers in and out.
func sessionRoutes(d door) []route {
	sessions := session.New(d)
	return []route{
		{"GET", "/v1/session", "", session.App, steering, "who you are to this gateway", sessions.Get},
		{"POST", "/v1/session", "", session.App, entering, "sign a browser in: the body is a key, the answer brings a cookie", sessions.SignIn},
		{"DELETE", "/v1/session", "", session.App, entering, "sign it out", sessions.SignOut},
	}
}

// openAPI makes the API of the apps. The function it gives closes what that needs.
func openAPI(cfg Config, s opened, log *slog.Logger, registry prometheus.Registerer) (*httpapi.API, func() error, error) {
	record, closeAudit, err := openAudit(cfg, log)
	if err != nil {
		return nil, nil, err
	}
	door := newDoor(cfg, s.records, s.records, log)
	api := httpapi.New(httpapi.Options{
		Logger:     log,
		Registry:   registry,
		Guard:      httpapi.NewGuard(cfg.hosts()),
		Identifier: door,
		Proxies:    cfg.trustedProxies(),
		Take:       s.quotas.Take,
		Audit:      record,
	})
	mountPages(api)
	ctx, cancel := context.WithCancel(context.Background())
	limits := newLimiters(cfg, registry)
	mount(api, withinQuotas(ctx, allRoutes(cfg, s, door, limits), s.quotas, s.records, s.client), limits)
	return api, func() error {
		cancel()
		return closeAudit()
	}, nil
}

// allRoutes lists every route of the apps' address but the pages'.
func allRoutes(cfg Config, s opened, d door, limits limiters) []route {
	return whatExists(slices.Concat(
		routes(s.client, s.runs, cfg, s.proof.document),
		backupRoutes(s.client, s.backups, cfg),
		shareRoutes(s, d, limits[visiting], cfg),
		sessionRoutes(d),
	), s.exists)
}

// openAudit opens the audit log, if there is to be one.
func openAudit(cfg Config, log *slog.Logger) (func(audit.Entry), func() error, error) {
	if cfg.AuditLog == "" {
		return nil, func() error { return nil }, nil
	}
	file, err := audit.Open(audit.Options{Path: cfg.AuditLog})
	if err != nil {
		return nil, nil, err
	}
	return func(e audit.Entry) {
		if err := file.Write(e); err != nil {
			log.Error("the audit log was not written", "request", e.Request, "error", err)
		}
	}, file.Close, nil
}

// auditCommand notes what an operator did on the command line.
func auditCommand(cfg Config, e audit.Entry) error {
	if cfg.AuditLog == "" {
		return nil
	}
	e.Time, e.Outcome = time.Now(), "ok"
	return audit.Append(cfg.AuditLog, e)
}
