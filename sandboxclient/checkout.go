package sandboxclient

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"path"
	"strconv"
	"strings"
	"time"
)

const (
	// checkoutTimeout is what a checkout may take if nothing else is said; as
	// everything it keeps to the client's ceiling.
	checkoutTimeout = 10 * time.Minute
	// lowSpeedTime is how long a server may keep below lowSpeedLimit bytes a second.
	lowSpeedTime  = 30 * time.Second
	lowSpeedLimit = 1 << 10

	maxDepth = 1 << 30
)

// checkoutScript is the same for every checkout; what differs are its
// arguments, which no shell looks into.
//
//go:embed checkout.sh
var checkoutScript string

// A Checkout is a git repository to be cloned in a sandbox, and the commit to
// be checked out. It is cloned by git inside the sandbox, and everything about
// the repository is taken to be hostile: no hook of it runs, no filter and no
// other program, nothing is asked for at a terminal, and nothing is fetched but
// over the transports that are named here, submodules and redirects included.
type Checkout struct {
	// Repository is the repository's URL; white space around it does not
	// matter. A user and password in it reach git by a helper in memory, for
	// that host alone, and are in none of what is kept or told.
	Repository string
	// Ref is a branch, a tag, a full name as refs/pull/1/head, or a commit,
	// which may be abbreviated. Empty: the repository's default branch.
	Ref string
	// Dir is where to, in /workspace: nothing, or an empty directory. Empty:
	// a directory called as the repository is.
	Dir        string
	Depth      int  // so many commits of history; 0: all
	Submodules bool // with submodules, and theirs
	LFS        bool // with what Git LFS keeps, for which the sandbox needs git-lfs

	AllowHTTP bool     // the repository may be at http://, as it always may at https://
	Schemes   []string // further ones that are: "ssh", "git"

	Timeout  time.Duration // 10 minutes when 0
	LowSpeed time.Duration // a server slower than 1 KiB a second for so long is given up; 30 seconds when 0

	Execution string // the execution's id; a new one when empty
	Detach    bool   // go on when the caller leaves
}

// CheckedOut is what a checkout came to.
type CheckedOut struct {
	Commit   string // the full name of the commit
	Ref      string // the branch that is checked out; else what was asked for
	Dir      string // absolute
	Warnings []CheckoutWarning
}

// A CheckoutWarning is something that a reader of the files should know.
type CheckoutWarning struct {
	Code    string // one of the codes below
	Message string
}

// Codes of warnings.
const (
	WarningLFSPointers       = "lfs_pointers"
	WarningSubmodulesLeftOut = "submodules_left_out"
)

// GitCheckout clones a repository and checks it out. What git prints can be
// followed as any execution's output; its end and its failures are told here.
func (s *Sandbox) GitCheckout(ctx context.Context, c Checkout) (*CheckedOut, error) {
	const op = "git checkout"
	cmd, err := c.Command()
	if err != nil {
		return nil, s.failure(ctx, op, err)
	}
	result, err := s.Exec(ctx, cmd)
	if err != nil {
		return nil, s.failure(ctx, op, err)
	}
	// A script that was ended with git cannot tidy up; before it says that it has
	// begun, what is in the directory is somebody else's.
	if result.Exit.Status != StatusExited && bytes.HasPrefix(result.Stdout, []byte("begun\n")) {
		_, _ = s.Exec(ctx, Command{Argv: []string{"/bin/rm", "-rf", "--", cmd.Argv[dirArgument]}, Dir: "/"})
	}
	if err := c.Failure(result.Exit, result.Stderr); err != nil {
		return nil, s.failure(ctx, op, err)
	}
	out := ParseCheckout(result.Stdout)
	if out.Commit == "" {
		return nil, s.failure(ctx, op, badAnswer(errors.New("a checkout without a commit")))
	}
	out.Ref, out.Dir = orDefault(out.Ref, strings.TrimSpace(c.Ref)), cmd.Argv[dirArgument]
	return &out, nil
}

// dirArgument is where in a checkout's argv the directory is.
const dirArgument = 5

// Command is the checkout as a command; what of it is not allowed is forbidden,
// what makes no sense invalid. Its stdout is for ParseCheckout, its stderr for
// people, through Mask, and what its end means is for Failure to say.
func (c Checkout) Command() (Command, error) {
	remote, err := c.remote()
	if err != nil {
		return Command{}, err
	}
	dir, err := c.target(remote)
	if err != nil {
		return Command{}, err
	}
	how, ref, err := c.how()
	if err != nil {
		return Command{}, err
	}
	if c.Depth < 0 || c.Depth > maxDepth {
		return Command{}, Errorf(CodeInvalid, "The depth of a checkout is a number of commits, or 0 for all")
	}
	return Command{
		Argv: []string{
			"/bin/sh", "-c", checkoutScript, "checkout",
			remote.url, dir, how, ref, c.depth(), yes(c.Submodules), yes(c.LFS),
		},
		Env:       c.environment(remote),
		Dir:       "/", // where no repository lies whose settings git would heed
		Timeout:   orDefault(c.Timeout, checkoutTimeout),
		Detach:    c.Detach,
		Execution: c.Execution,
	}, nil
}

// target gives the directory to clone to.
func (c Checkout) target(r remote) (string, error) {
	if c.Dir == "" {
		return path.Join(WorkspaceDir, r.name()), nil
	}
	relative, err := workspaceRelative(c.Dir)
	if err != nil {
		return "", err
	}
	return path.Join(WorkspaceDir, relative), nil
}

func (c Checkout) depth() string {
	if c.Depth == 0 {
		return ""
	}
	return strconv.Itoa(c.Depth)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}
