package sandboxclient

import (
	"context"
	"io"
)

type Client struct{}

// Sandbox gives a handle. It does no I/O: the first operation finds, wakes or creates the sandbox.
func (c *Client) Sandbox(ref Ref) *Sandbox

type Sandbox struct{}

func (s *Sandbox) ID() ID
func (s *Sandbox) RunCode(ctx context.Context, code string, opts RunOptions) (*Run, error)
func (s *Sandbox) Exec(ctx context.Context, cmd Command) (*ExecResult, error)
func (s *Sandbox) Contexts(ctx context.Context) ([]CodeContext, error) // of a sandbox that does not run: none, without starting it
func (s *Sandbox) InterruptContext(ctx context.Context, context string) error
func (s *Sandbox) DeleteContext(ctx context.Context, context string) error
func (s *Sandbox) ReadFile(ctx context.Context, path string, opts ReadOptions) (*File, error)
func (s *Sandbox) WriteFile(ctx context.Context, path string, body io.Reader, opts WriteOptions) (FileInfo, error)
func (s *Sandbox) RemoveFile(ctx context.Context, path string, recursive bool) error
func (s *Sandbox) Stat(ctx context.Context, path string) (FileInfo, error)
func (s *Sandbox) MakeDir(ctx context.Context, path string) (FileInfo, error)
func (s *Sandbox) Rename(ctx context.Context, from, to string, replace bool) (FileInfo, error)
func (s *Sandbox) Destroy(ctx context.Context, workspace Workspace) error

// ResolveWorkspacePath, ShellQuote: pure functions

// Records keeps what was promised about sandboxes across restarts of the gateway.
type Records interface {
	SaveSandbox(ctx context.Context, r Record) error       // insert or replace
	ListSandboxes(ctx context.Context) ([]Record, error)
	DeleteSandbox(ctx context.Context, id ID) error        // with its contexts' generations; unknown is no error
	NextGeneration(ctx context.Context, id ID, context string) (int, error) // 1, 2, 3 ...
}
