package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/dustin/go-humanize"

	"sandgate/internal/objects"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// Bounds on what is looked at and kept of a run's files.
const (
	maxArtifacts = 256
	maxArtifact  = 512     // bytes of a name
	maxTold      = 20      // files that are told of because they are not kept
	maxListing   = 8 << 20 // bytes of names
	gatherTime   = 2 * time.Minute
)

// A found file is one that a glob may mean.
type found struct {
	name string // below the repository
	link bool
	size int64
}

// saveArtifacts keeps what the globs mean as objects, and tells what it leaves.
func (r *run) saveArtifacts(ctx context.Context) []Artifact {
	kept, skipped := []Artifact{}, 0
	if len(r.promise.Artifacts) == 0 {
		return kept
	}
	left, err := r.artifactRoom(ctx)
	var files []found
	if err == nil {
		files, err = r.find(ctx)
	}
	if err != nil {
		r.tellArtifacts("artifacts_failed", "The artifacts could not be looked for: "+problemMessage(public(err)))
		return kept
	}
	for _, f := range files {
		if ctx.Err() != nil { // a hostile tree can make matching slow
			r.tellArtifacts("artifacts_failed", "Keeping the artifacts took too long; those that are left are not kept")
			break
		}
		if !r.wanted(f.name) {
			continue
		}
		a, err := r.saveArtifact(ctx, f, len(kept), left)
		if err != nil {
			if skipped++; skipped <= maxTold {
				r.tellArtifacts("artifact_skipped", fmt.Sprintf("%.*s is not kept: %s", maxArtifact, f.name, problemMessage(public(err))))
			}
			continue
		}
		kept, left = append(kept, a), left-a.Size
	}
	if skipped > maxTold {
		r.tellArtifacts("artifact_skipped", fmt.Sprintf("%d more files are not kept", skipped-maxTold))
	}
	return kept
}

// artifactRoom is how many bytes of artifacts may be kept.
func (r *run) artifactRoom(ctx context.Context) (int64, error) {
	left, err := r.engine.opts.Quota.Room(ctx, r.owner)
	if left < r.engine.opts.MaxArtifacts && err == nil {
		r.tellArtifacts("artifacts_quota", fmt.Sprintf("Your backups and what runs left leave room for %s of this run's", humanize.IBytes(uint64(max(left, 0)))))
	}
	return min(left, r.engine.opts.MaxArtifacts), err
}

// tellArtifacts warns of what is not kept. A log that cannot be written has
// ended the run otherwise already.
func (r *run) tellArtifacts(code, message string) { _ = r.warn(0, code, message) }

func (r *run) wanted(name string) bool {
	for _, glob := range r.promise.Artifacts {
		if ok, err := doublestar.Match(glob, name); err == nil && ok {
			return true
		}
	}
	return false
}

// saveArtifact keeps one file as the nth object.
func (r *run) saveArtifact(ctx context.Context, f found, n int, left int64) (Artifact, error) {
	switch {
	case f.link:
		return Artifact{}, invalid("it is a link")
	case len(f.name) > maxArtifact:
		return Artifact{}, invalid("its path is too long")
	case n >= maxArtifacts:
		return Artifact{}, invalid("there are %d artifacts already, the most that may be", maxArtifacts)
	case f.size > left:
		return Artifact{}, tooLarge()
	}
	file, err := r.sandbox.ReadFile(ctx, appDir+"/"+f.name, sandboxclient.ReadOptions{})
	if err != nil {
		return Artifact{}, err
	}
	defer func() { _ = file.Body.Close() }() // all that we want of it was read
	if file.Listing != nil {
		return Artifact{}, invalid("it is a directory")
	}
	info, err := r.engine.opts.Objects.Put(ctx, artifactKey(r.id, n), &capped{file.Body, left})
	if err != nil {
		return Artifact{}, objectError(err)
	}
	return Artifact{Name: f.name, Size: info.Size, URL: ArtifactPath(r.id, f.name)}, nil
}

func artifactKey(id string, n int) string { return objectPrefix(id) + "artifacts/" + strconv.Itoa(n) }

func objectError(err error) error {
	if errors.Is(err, objects.ErrNoSpace) {
		return sandboxclient.DiskFull(err)
	}
	return err
}

func tooLarge() error {
	return sandboxclient.Errorf(sandboxclient.CodeTooLarge, "it does not fit with the others into what may be kept")
}

// capped fails when there is more than may be read.
type capped struct {
	r    io.Reader
	left int64
}

// Read implements io.Reader.
func (c *capped) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return 0, tooLarge()
	}
	return n, err
}

// find lists the repository's files and links. What is installed and git's own
// are not among them, unless a glob names them.
func (r *run) find(ctx context.Context) ([]found, error) {
	if !r.sandbox.Running() { // it is not started for this
		return nil, lost("the sandbox is gone")
	}
	cmd := sandboxclient.Command{Argv: findArgv(r.promise.Artifacts), Dir: appDir, Timeout: gatherTime, Keep: maxListing}
	var listing bytes.Buffer
	for e, err := range r.sandbox.ExecStream(ctx, cmd) {
		switch {
		case err != nil:
			return nil, err
		case e.Type == wire.EventStdout && listing.Len()+len(e.Data) <= maxListing:
			listing.Write(e.Data)
		case e.Type == wire.EventError:
			return nil, sandboxclient.Errorf(sandboxclient.Code(e.Code), "%s", e.Message)
		}
	}
	files := parseListing(listing.String())
	slices.SortFunc(files, func(a, b found) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// findArgv never follows a link, and prints a type, a size and a path for each
// file and link, with a NUL after it.
func findArgv(globs []string) []string {
	argv := []string{"find", "-P", ".", "-mindepth", "1"}
	for _, name := range []string{"node_modules", ".git"} {
		if !mentions(globs, name) {
			argv = append(argv, "-name", name, "-prune", "-o")
		}
	}
	return append(argv, "(", "-type", "f", "-o", "-type", "l", ")", "-printf", `%y %s %P\0`)
}

func mentions(globs []string, name string) bool {
	for _, glob := range globs {
		if slashed(glob, name) {
			return true
		}
	}
	return false
}

// parseListing reads what find printed; what has another form counts for
// nothing, and neither do names that cannot be shown.
func parseListing(listing string) []found {
	var files []found
	for entry := range strings.SplitSeq(listing, "\x00") {
		kind, rest, _ := strings.Cut(entry, " ")
		length, name, _ := strings.Cut(rest, " ")
		size, err := strconv.ParseInt(length, 10, 64)
		if err != nil || size < 0 || name == "" || !showable(name) {
			continue
		}
		files = append(files, found{name, kind == "l", size})
	}
	return files
}

func showable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl) && !slashed(name, "..")
}
