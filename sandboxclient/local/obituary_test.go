package local_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient/local"
)

// A sandbox that dies of itself is no riddle: the log says what gVisor's kernel
// said, and a sandbox that was ended on purpose has no obituary.
func TestDestroy_tellsOfWhoDied(t *testing.T) {
	b := newBench(t, "runsc")
	var log strings.Builder
	b.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	const panicSignal = "12"
	b.wrap(fmt.Sprintf(`exec %s --panic-signal=%s "$@"`, sandboxtest.Bin("runsc"), panicSignal))
	d := b.open()
	b.works(d)
	if strings.Contains(log.String(), "died") {
		t.Fatalf("ended on purpose: %s", log.String())
	}
	if err := b.create(d); err != nil {
		t.Fatal(err)
	}
	b.end(d, unix.SIGUSR2)
	for _, word := range []string{`msg="a sandbox died"`, "sandbox=" + string(b.id), "oomKills=0", "Signal-induced panic"} {
		if !strings.Contains(log.String(), word) {
			t.Errorf("%s is not in %s", word, log.String())
		}
	}
}

// end has a sandbox's first process end by a signal, and destroys what is left.
func (b *bench) end(d *local.Driver, sig unix.Signal) {
	b.Helper()
	record, err := os.ReadFile(filepath.Join(b.cfg.StateDir, "sandboxes", string(b.id), "bundle", "process"))
	if err != nil {
		b.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.Fields(string(record))[0])
	if err == nil {
		err = unix.Kill(pid, sig)
	}
	if err != nil {
		b.Fatal(err)
	}
	for err == nil { // until the driver has seen it
		_, err = d.Dial(b.Context(), b.id)
	}
	b.destroy(d)
}
