package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"sandgate/internal/audit"
	"sandgate/internal/backups"
	"sandgate/internal/objects"
	"sandgate/internal/store"
)

// claimCommand is what to say when the objects are lost.
const claimCommand = "gateway objects claim"

// objectsCommand is `gateway objects`.
func (p *program) objectsCommand(stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:         "objects",
		Short:       "Begin anew with another object store when the former one is lost",
		Annotations: map[string]string{needs: "--state-dir, --database and --objects\nsay what is bound to what"},
		Args:        noArguments,
		RunE:        func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "claim",
		Short: "Bind the database to the store that --objects names, which must be nobody's",
		Long: `The database and its object store are bound to each other, so that a gateway whose
disk is not mounted does not begin with an empty folder. When the objects are lost for
good, this binds the database to the store that --objects names. Backups that are not
in it are forgotten, also when it was the database's before; logs and artifacts of test
runs are missing then. Should the former store turn up again, it belongs to this
database no more. Stop the gateway before.`,
		Args: noArguments,
		RunE: p.with(func(cmd *cobra.Command, _ []row) error { return p.claim(cmd.Context(), stderr) }),
	})
	return cmd
}

// claim binds the database to the store of the configuration. The lock of the state
// directory keeps it away from a gateway that runs.
func (p *program) claim(ctx context.Context, stderr io.Writer) error {
	if err := p.config.checkClaim(); err != nil {
		return err
	}
	state, err := openState(p.config.StateDir)
	if err != nil {
		return err
	}
	err = p.withStore(ctx, func(s *store.Store) error { return claimAnew(ctx, p.config, s, stderr) })
	return errors.Join(err, state.Close())
}

// checkClaim makes sure that the command was told what the gateway is told: with a
// setting left out, it would take what a gateway uses for lost.
func (c Config) checkClaim() error {
	if !isThere(filepath.Join(c.StateDir, keyName)) || !isThere(c.database()) {
		return fmt.Errorf("no gateway has worked on %s with %s: give this command the same --state-dir, --database and --objects as the gateway", c.StateDir, c.database())
	}
	if !objects.IsS3(c.Objects) && !isThere(c.objects()) {
		return fmt.Errorf("there is no directory %s: correct --objects, which the gateway may have from its environment, or make it", c.objects())
	}
	return nil
}

func claimAnew(ctx context.Context, cfg Config, records *store.Store, stderr io.Writer) error {
	kept, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	defer kept.Close()
	anew, err := claimAsTold(ctx, kept, records)
	if err != nil {
		return err
	}
	// Also where it was ours already: perhaps only its backups are lost, or this
	// command was killed before.
	forgotten, err := backups.New(backups.Options{Records: records, Retention: records, Objects: kept}).Forget(ctx)
	if err != nil {
		err = fmt.Errorf("forget the backups that are not there: %w", err)
	} else {
		sayClaimed(stderr, cfg, anew, forgotten)
	}
	if anew || forgotten > 0 {
		err = errors.Join(err, auditCommand(cfg, audit.Entry{Action: "objects claim"}))
	}
	return err
}

// claimAsTold says whether the database begins anew with a store; it does not where
// the store is its own already.
func claimAsTold(ctx context.Context, kept objectStore, records *store.Store) (anew bool, err error) {
	_, err = readClaim(ctx, kept)
	if err == nil { // it is ours already, or refused
		return false, claimObjects(ctx, kept, records)
	}
	if !errors.Is(err, objects.ErrNotExist) {
		return false, err
	}
	if err := records.Rename(ctx); err != nil { // or the former store would still be its own
		return false, err
	}
	return true, claimObjects(ctx, kept, records)
}

func sayClaimed(stderr io.Writer, cfg Config, anew bool, forgotten int) {
	switch {
	case anew:
		fmt.Fprintf(stderr, "The database begins anew with %s.\n", cfg.objects())
	case forgotten == 0:
		fmt.Fprintln(stderr, "The objects belong to this database already; there is nothing to do.")
		return
	default:
		fmt.Fprintln(stderr, "The objects belong to this database already.")
	}
	fmt.Fprintf(stderr, "Backups that are not in it and are forgotten now: %d.\n", forgotten)
}
