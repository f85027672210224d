package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sandgate/internal/audit"
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
good, this binds the database to the store that --objects names. Backups, logs and
artifacts that are not in it are forgotten; should the former store turn up again, it
belongs to this database no more. Stop the gateway before.`,
		Args: noArguments,
		RunE: p.with(func(cmd *cobra.Command, _ []row) error { return p.claim(cmd.Context(), stderr) }),
	})
	return cmd
}

// claim binds the database to the store of the configuration. The lock of the state
// directory keeps it away from a gateway that runs.
func (p *program) claim(ctx context.Context, stderr io.Writer) error {
	state, err := openState(p.config.StateDir)
	if err != nil {
		return err
	}
	err = p.withStore(ctx, func(s *store.Store) error { return claimAnew(ctx, p.config, s, stderr) })
	return errors.Join(err, state.Close())
}

func claimAnew(ctx context.Context, cfg Config, records *store.Store, stderr io.Writer) error {
	kept, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	defer kept.Close()
	_, err = readClaim(ctx, kept)
	if err == nil { // it is ours already, or refused
		err = claimObjects(ctx, kept, records)
		if err == nil {
			fmt.Fprintln(stderr, "The objects belong to this database already; there is nothing to do.")
		}
		return err
	}
	if !errors.Is(err, objects.ErrNotExist) {
		return err
	}
	if err := records.Rename(ctx); err != nil { // or the former store would still be its own
		return err
	}
	if err := claimObjects(ctx, kept, records); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "The database begins anew with %s.\n", cfg.objects())
	return auditCommand(cfg, audit.Entry{Action: "objects claim"})
}
