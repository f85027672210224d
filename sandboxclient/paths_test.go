package sandboxclient

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The published helper's answers, input by input; "" means refused.
var publishedPaths = []struct{ input, want string }{
	{"", "/workspace"},
	{".", "/workspace"},
	{"./", "/workspace"},
	{"/", ""},
	{"..", ""},
	{"../", ""},
	{"a.txt", "/workspace/a.txt"},
	{"./a.txt", "/workspace/a.txt"},
	{"/a.txt", ""},
	{"a//b.txt", "/workspace/a/b.txt"},
	{"/workspaces/a", ""},
	{"/workspacea", ""},
	{"/workspace", "/workspace"},
	{"/workspace/", "/workspace"},
	{"/workspace/..", ""},
	{"/workspace/../", ""},
	{"//workspace/a", "/workspace/a"},
	{"/workspace//a", "/workspace/a"},
	{"/WORKSPACE/a", ""},
	{"/workspace/../workspace/a", "/workspace/a"},
	{"/workspace/../etc/passwd", ""},
	{"../workspace/a", "/workspace/a"},
	{"../etc/passwd", ""},
	{"../../../../workspace/x", "/workspace/x"},
	{"a/../../b", ""},
	{"a/../../workspace/b", "/workspace/b"},
	{"/../workspace/x", "/workspace/x"},
	{"./../workspace", "/workspace"},
	{"a/../b", "/workspace/b"},
	{"a/", "/workspace/a"},
	{"/workspace/a/", "/workspace/a"},
	{"/workspace/./a/.", "/workspace/a"},
	{"...", "/workspace/..."},
	{"..a", "/workspace/..a"},
	{"%2e%2e/etc/passwd", "/workspace/%2e%2e/etc/passwd"},
	{"a%2fb", "/workspace/a%2fb"},
	{"~", "/workspace/~"},
	{"~/x", "/workspace/~/x"},
	{"*", "/workspace/*"},
	{"-rf", "/workspace/-rf"},
	{" a", "/workspace/ a"},
	{"a ", "/workspace/a "},
	{"  ", "/workspace/  "},
	{"a\nb", "/workspace/a\nb"},
	{"a\x00b", "/workspace/a\x00b"},
	{"\x00", "/workspace/\x00"},
	{`a\..\..\etc`, `/workspace/a\..\..\etc`},
	{`..\etc`, `/workspace/..\etc`},
	{`C:\x`, `/workspace/C:\x`},
	{"workspace/a", "/workspace/workspace/a"},
	{"file:///etc/passwd", "/workspace/file:/etc/passwd"},
	{"ünï/ć.txt", "/workspace/ünï/ć.txt"},
	{strings.Repeat("x", 5000), "/workspace/" + strings.Repeat("x", 5000)},
}

func TestResolveWorkspacePath_agreesWithThePublishedHelper(t *testing.T) {
	for _, c := range publishedPaths {
		got, ok := ResolveWorkspacePath(c.input)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("ResolveWorkspacePath(%.60q) = %.60q, %v; want %.60q", c.input, got, ok, c.want)
		}
	}
}

// FuzzResolveWorkspacePath holds that no input resolves outside, that what is
// resolved stays as it is when resolved again, and that os.Root, which is what
// really confines, finds the same file behind it.
func FuzzResolveWorkspacePath(f *testing.F) {
	for _, c := range publishedPaths {
		f.Add(c.input)
	}
	dir := f.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input string) {
		resolved, ok := ResolveWorkspacePath(input)
		if !ok {
			return
		}
		if resolved != WorkspaceDir && !strings.HasPrefix(resolved, WorkspaceDir+"/") {
			t.Fatalf("%q resolved outside: %q", input, resolved)
		}
		if again, ok := ResolveWorkspacePath(resolved); !ok || again != resolved {
			t.Fatalf("%q resolved to %q, and that to %q", input, resolved, again)
		}
		relative, err := workspaceRelative(input)
		if err != nil {
			return // NUL
		}
		if !filepath.IsLocal(relative) {
			t.Fatalf("%q gave %q, which is not local", input, relative)
		}
		if _, err := root.Stat(relative); err != nil && strings.Contains(err.Error(), "escapes") {
			t.Fatalf("os.Root says that %q escapes: %v", relative, err)
		}
	})
}
