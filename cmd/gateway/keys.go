package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sandgate/internal/audit"
	"sandgate/internal/identity"
	"sandgate/internal/quota"
	"sandgate/internal/store"
	"sandgate/sandboxclient"
)

// keysCommand is `gateway keys`, which works on the database, whether a gateway
// runs on it or not.
func (p *program) keysCommand(stdout, stderr io.Writer) *cobra.Command {
	keys := &cobra.Command{
		Use:         "keys",
		Short:       "Make, list and revoke the keys that --auth keys asks for",
		Annotations: map[string]string{needs: "--state-dir and --database say\nwhere the keys are, and --audit-log where it is noted who made them"},
		Long: `Keys say who a request comes from: Authorization: Bearer sg_…

They are made and revoked in the database of the gateway, which may run
meanwhile: a new key is good at once, a revoked one for a second at most.`,
		Example: `  gateway keys create --owner alice
  gateway keys create --owner ci --apps testrunner --expires 90d --label "build server"
  gateway keys list
  gateway keys revoke abcd2345`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	keys.AddCommand(p.createKeyCommand(stdout, stderr), p.listKeysCommand(stdout, stderr), p.revokeKeyCommand(stderr))
	return keys
}

func (p *program) createKeyCommand(stdout, stderr io.Writer) *cobra.Command {
	var key identity.Key
	var lasts time.Duration
	cmd := &cobra.Command{
		Use:   "create --owner NAME",
		Short: "Make a key and print it, this once",
		Args:  noArguments,
	}
	f := cmd.Flags()
	f.StringVar(&key.Owner, "owner", "", "`NAME` of whom the key is for: all keys of an owner reach the same sandboxes")
	f.StringVar(&key.Label, "label", "", "`WORDS` that tell people what it is for")
	f.StringSliceVar(&key.Apps, "apps", nil, "`APPS` that it is for, separated by commas: "+strings.Join(identity.KnownApps, ", ")+"; empty: all")
	f.BoolVar(&key.ReadOnly, "read-only", false, "look, and change nothing")
	f.BoolVar(&key.Admin, "admin", false, "may look at what other owners have, with ?owner=NAME")
	f.StringVar(&key.Class, "class", "", "`NAME` of the class of --quota; empty: default")
	f.Var((*span)(&lasts), "expires", "`TIME` from now on for which it is good; 0: for ever")
	cmd.RunE = p.with(func(cmd *cobra.Command, _ []row) error {
		if key.Owner == "" {
			return errors.New("say whom the key is for: --owner NAME")
		}
		if lasts < 0 {
			return fmt.Errorf("expires: must not be less than 0")
		}
		key.CreatedAt = time.Now()
		if lasts > 0 {
			key.ExpiresAt = key.CreatedAt.Add(lasts)
		}
		return p.createKey(cmd.Context(), key, stdout, stderr)
	})
	return cmd
}

// createKey prints the key on a line of its own, and to people what it is.
func (p *program) createKey(ctx context.Context, key identity.Key, stdout, stderr io.Writer) error {
	if err := key.Check(); err != nil {
		return err
	}
	token := identity.NewToken()
	key.ID, key.Hash = token.ID(), token.Hash()
	if err := p.makeState(); err != nil {
		return err
	}
	if err := p.withStore(ctx, func(s *store.Store) error { return s.CreateKey(ctx, key) }); err != nil {
		return err
	}
	fmt.Fprintln(stdout, token.Reveal())
	fmt.Fprintf(stderr, "This is key %s of %s, for the gateway on %s. It is shown this once: keep it now.\n", key.ID, key.Owner, p.config.StateDir)
	p.remark(stderr, key)
	p.remarkOnAudit(stderr)
	return auditCommand(p.config, audit.Entry{Owner: key.Owner, Key: key.ID, Action: "keys create"})
}

// remark says what the configuration, as this command knows it, makes of a key.
func (p *program) remark(stderr io.Writer, key identity.Key) {
	if p.config.Auth != authKeys {
		fmt.Fprintln(stderr, "A gateway asks for keys when it is started with --auth keys.")
	}
	if key.ReachesNothing() {
		fmt.Fprintf(stderr, "It reaches nothing yet: %s work on what is of apps, so name those in --apps as well.\n", strings.Join(key.Apps, " and "))
	}
	classes, _ := quota.Parse(p.config.Quotas)
	if _, ok := classes[key.Class]; !ok && key.Class != "" && key.Class != quota.Default {
		fmt.Fprintf(stderr, "This command was told of no --quota for the class %s; where the gateway was not either, it is like default.\n", key.Class)
	}
}

// remarkOnAudit says that this command writes the audit log itself: the gateway does
// not see what it does.
func (p *program) remarkOnAudit(stderr io.Writer) {
	if p.config.AuditLog == "" {
		fmt.Fprintln(stderr, "No audit log has this: if the gateway writes one, tell this command the same --audit-log.")
	}
}

func (p *program) revokeKeyCommand(stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke KEY",
		Short: "Refuse a key from now on, and end its sessions; KEY is it or its identifier",
		Args:  oneArgument("a key or its identifier"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.with(func(cmd *cobra.Command, _ []row) error {
			return p.revokeKey(cmd.Context(), identifierIn(args[0]), stderr)
		})(cmd, nil)
	}
	return cmd
}

// identifierIn takes a key's identifier from a key, or from the start of one.
func identifierIn(text string) string {
	text = strings.TrimPrefix(text, "sg_")
	id, _, _ := strings.Cut(text, "_")
	return id
}

func (p *program) revokeKey(ctx context.Context, id string, stderr io.Writer) error {
	there := false
	err := p.withExistingStore(ctx, func(s *store.Store) error {
		there = true
		return s.RevokeKey(ctx, id, time.Now())
	})
	if err == nil && !there || err != nil && sandboxclient.CodeOf(err) == sandboxclient.CodeNotFound {
		return errors.New("there is no such key; gateway keys list lists them")
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "Key %s is refused from now on.\n", id)
	p.remarkOnAudit(stderr)
	return auditCommand(p.config, audit.Entry{Key: id, Action: "keys revoke"})
}

func (p *program) listKeysCommand(stdout, stderr io.Writer) *cobra.Command {
	var owner string
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List the keys, without what is secret of them", Args: noArguments}
	cmd.Flags().StringVar(&owner, "owner", "", "`NAME` of one owner; empty: of all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "a line of JSON for each")
	cmd.RunE = p.with(func(cmd *cobra.Command, _ []row) error {
		var keys []identity.Key
		err := p.withExistingStore(cmd.Context(), func(s *store.Store) (err error) {
			keys, err = s.ListKeys(cmd.Context(), owner)
			return err
		})
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			fmt.Fprintf(stderr, "There are no keys%s in %s.\n", ofOwner(owner), p.config.StateDir)
			return nil
		}
		return printKeys(stdout, keys, asJSON)
	})
	return cmd
}

func ofOwner(owner string) string {
	if owner == "" {
		return ""
	}
	return " of " + owner
}

// withExistingStore is withStore for who makes nothing: where there is no database
// yet there is no work, and where it cannot be it is the setting that is wrong.
func (p *program) withExistingStore(ctx context.Context, work func(*store.Store) error) error {
	if isThere(p.config.database()) {
		return p.withStore(ctx, work)
	}
	if p.config.Database != "" {
		return fmt.Errorf("there is no database %s: correct --database", p.config.Database)
	}
	if !isThere(p.config.StateDir) {
		return fmt.Errorf("there is no state directory %s: correct --state-dir", p.config.StateDir)
	}
	return nil
}

// isThere says whether there may be a file: what cannot be looked at is for who opens
// it to tell.
func isThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// makeState makes the directory of a new database as the gateway would: one that is
// open to others and holds something is refused by it.
func (p *program) makeState() error {
	if p.config.Database != "" {
		return nil
	}
	if err := makePrivate(p.config.StateDir); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	return nil
}

// withStore opens the database, which another gateway may have open as well.
func (p *program) withStore(ctx context.Context, work func(*store.Store) error) error {
	s, err := store.Open(ctx, p.config.database())
	if err != nil {
		return err
	}
	return errors.Join(work(s), s.Close())
}

// listed is a key as it is printed.
type listed struct {
	ID        string     `json:"id"`
	Owner     string     `json:"owner"`
	State     string     `json:"state"`
	Scopes    string     `json:"scopes"`
	Class     string     `json:"class"`
	CreatedAt time.Time  `json:"createdAt"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	LastUsed  *time.Time `json:"lastUsed,omitempty"`
	Label     string     `json:"label,omitempty"`
}

func listing(k identity.Key) listed {
	l := listed{ID: k.ID, Owner: k.Owner, State: k.State(time.Now()), Scopes: scopesOf(k), Class: k.Class, CreatedAt: k.CreatedAt, Label: k.Label}
	if l.Class == "" {
		l.Class = quota.Default
	}
	if !k.ExpiresAt.IsZero() {
		l.ExpiresAt = &k.ExpiresAt
	}
	if !k.LastUsed.IsZero() {
		l.LastUsed = &k.LastUsed
	}
	return l
}

// scopesOf words what a key may do.
func scopesOf(k identity.Key) string {
	scopes := strings.Join(k.Apps, ",")
	if scopes == "" {
		scopes = "all"
	}
	if k.ReadOnly {
		scopes += ",read-only"
	}
	if k.Admin {
		scopes += ",admin"
	}
	return scopes
}

func printKeys(w io.Writer, keys []identity.Key, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		for _, k := range keys {
			if err := enc.Encode(listing(k)); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tOWNER\tSTATE\tSCOPES\tCLASS\tCREATED\tEXPIRES\tLAST USED\tLABEL")
	for _, k := range keys {
		l := listing(k)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			l.ID, l.Owner, l.State, l.Scopes, l.Class, day(&l.CreatedAt), day(l.ExpiresAt), day(l.LastUsed), l.Label)
	}
	return table.Flush()
}

func day(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}
