package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// An attic is a gateway with room for what is kept in backups.
type attic struct{ *bedroom }

// backups lists what it takes to keep a directory, and to put it back, against
// tar and zstd typed in the same sandbox.
func (l *lab) backups() []comparison {
	a := attic{l.bedroom(0, "--python-engine", "python", "--workspace-size", "8GiB", "--default-timeout", "10m")}
	var all []comparison
	for _, d := range []struct{ name, dir, fill string }{
		{"30,000 files", "tree", fillTree},
		{"a file of 2 GiB", "large", fillLarge},
	} {
		tar := fmt.Sprintf("rm -f /tmp/%[1]s; tar -C %[1]s -c . | zstd -q -o /tmp/%[1]s", d.dir)
		untar := fmt.Sprintf("mkdir copy; zstd -dcq /tmp/%s | tar -C copy -x", d.dir)
		fill := once(a.run(d.fill))
		packed := a.shell("rm -rf copy; test -f /tmp/" + d.dir + " || (" + tar + ")")
		all = append(all,
			comparison{
				name: "backup of " + d.name, against: "tar | zstd", aim: "≤ 1.3", unit: "ms", rounds: 3, prepare: a.open,
				measured: after(fill, a.backup(d.dir)), reference: a.shell(tar),
			},
			comparison{
				name: "restore of " + d.name, against: "zstd | tar", aim: "≤ 1.3", unit: "ms", rounds: 3, prepare: a.open,
				measured: after(fill, a.restore(d.dir)), reference: after(packed, a.shell(untar)),
			},
			comparison{
				name: "restore of " + d.name + ", both on the disk", against: "zstd | tar", aim: "≤ 1.3", unit: "ms", rounds: 3, prepare: a.open,
				measured: after(fill, a.restore(d.dir)), reference: after(packed, a.flushed(a.shell(untar))),
			},
		)
	}
	return append(all,
		comparison{
			name: "gateway's memory growth in that", aim: "< 64 MiB", unit: "MiB", rounds: 3, prepare: a.open,
			measured: growthIn(func() int { return a.PID() }, once(a.run(fillLarge)), a.backup("large"), a.restore("large")),
		},
		comparison{
			name: "a run from a backup", against: "from nothing", aim: "≤ 0.35", unit: "ms", rounds: 3,
			measured: l.preparedRun(), reference: l.wholeRun,
		},
		l.timeline(),
	)
}

// Programs that fill a directory: many small files, and a large one of which a
// third is noise.
const (
	fillTree = `import os
for i in range(1500):
    os.makedirs(f"tree/{i % 50}/{i}")
    for k in range(20):
        with open(f"tree/{i % 50}/{i}/{k}.js", "w") as f: f.write(f"exports.f{k} = () => {i}\n" * (1 + (i * k) % 99))`
	fillLarge = `import os
os.makedirs("large", exist_ok=True)
noise = os.urandom(1 << 20)
with open("large/file", "wb") as f:
    for i in range(2048): f.write(noise[i:350000 + i] + b"x" * (1048576 - 350000))`
)

// run runs code in the notebook whose directories are kept.
func (a attic) run(code string) sample {
	return func(ctx context.Context) (float64, error) {
		return a.lab.post(a.URL+"/notebook?notebook=backups", code+"\nprint('done')", `"done\n"`)(ctx)
	}
}

func (a attic) shell(command string) sample {
	return a.run(fmt.Sprintf("import subprocess; subprocess.run(%q, shell=True, check=True)", command))
}

// once makes a sample that does something the first time alone.
func once(s sample) sample {
	return prepared(s, func(context.Context) (float64, error) { return 0, nil })
}

// after makes a sample before which another is taken that does not count.
func after(first, s sample) sample {
	return func(ctx context.Context) (float64, error) {
		if _, err := first(ctx); err != nil {
			return 0, err
		}
		return s(ctx)
	}
}

// flushed counts in the time until the disk has all that the workspaces were given.
func (a attic) flushed(s sample) sample {
	return func(ctx context.Context) (float64, error) {
		took, err := s(ctx)
		if err != nil {
			return 0, err
		}
		began := time.Now()
		dirs, err := filepath.Glob(filepath.Join(a.Dir, "sandboxes", "*", "workspace"))
		for _, dir := range dirs {
			err = errors.Join(err, flush(dir))
		}
		return took + milliseconds(time.Since(began)), err
	}
}

func flush(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}

// backup keeps a directory, and forgets it when the time is taken.
func (a attic) backup(dir string) sample {
	return func(ctx context.Context) (float64, error) {
		began := time.Now()
		id, err := a.keep(ctx, dir)
		took := milliseconds(time.Since(began))
		if err != nil {
			return 0, err
		}
		return took, a.lab.request(ctx, http.MethodDelete, a.URL+"/v1/backups/"+id, nil, 0, &bytes.Buffer{})
	}
}

func (a attic) keep(ctx context.Context, dir string) (id string, err error) {
	var answer bytes.Buffer
	order := fmt.Sprintf(`{"app":"notebook","name":"backups","dir":%q}`, dir)
	if err := a.lab.request(ctx, http.MethodPost, a.URL+"/v1/backups", strings.NewReader(order), 0, &answer); err != nil {
		return "", err
	}
	var b struct{ ID string }
	err = json.Unmarshal(answer.Bytes(), &b)
	return b.ID, err
}

// restore puts a directory back which is kept the first time.
func (a attic) restore(dir string) sample {
	id := ""
	return func(ctx context.Context) (float64, error) {
		if id == "" {
			var err error
			if id, err = a.keep(ctx, dir); err != nil {
				return 0, err
			}
		}
		return timed(func(ctx context.Context) error {
			return a.lab.request(ctx, http.MethodPost, a.URL+"/v1/backups/"+id+"/restore", nil, 0, &bytes.Buffer{})
		})(ctx)
	}
}

// preparedRun is a run of what an earlier one cloned and installed.
func (l *lab) preparedRun() sample {
	id := ""
	return func(ctx context.Context) (float64, error) {
		if id == "" {
			var err error
			if id, err = l.prepare(ctx); err != nil {
				return 0, err
			}
		}
		return timed(func(ctx context.Context) error {
			return l.runOf(ctx, map[string]any{"restore": id}, func(event) {})
		})(ctx)
	}
}

// prepare runs the project's tests and gives the backup that the run made.
func (l *lab) prepare(ctx context.Context) (id string, err error) {
	if _, err := l.wholeRun(ctx); err != nil { // which makes the repository
		return "", err
	}
	order := map[string]any{"repository": l.repository, "backup": map[string]any{}}
	err = l.runOf(ctx, order, func(e event) {
		if e.Backup != nil {
			id = e.Backup.ID
		}
	})
	if err == nil && id == "" {
		err = fmt.Errorf("the run made no backup")
	}
	return id, err
}

func (l *lab) runOf(ctx context.Context, order map[string]any, see func(event)) error {
	body, err := json.Marshal(order)
	if err != nil {
		return err
	}
	s, err := l.watch(ctx, http.MethodPost, l.standard.URL+"/tests", string(body))
	if err != nil {
		return err
	}
	defer s.close()
	return s.succeed(see)
}
