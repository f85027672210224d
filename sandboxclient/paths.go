package sandboxclient

import "strings"

// WorkspaceDir is the only tree that the apps read and write.
const WorkspaceDir = "/workspace"

// ResolveWorkspacePath gives the absolute form of a path that a visitor typed,
// or false when it leaves /workspace. Relative means relative to /workspace;
// empty and "." segments are dropped and ".." takes one away, never beyond the
// root. It agrees with the published helper of @cloudflare/sandbox on every
// input, and like it looks at no link: what confines is the kernel, asked
// by sandboxd in one call that cannot leave.
func ResolveWorkspacePath(path string) (string, bool) {
	if !strings.HasPrefix(path, "/") {
		path = WorkspaceDir + "/" + path
	}
	var kept []string
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "", ".":
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, segment)
		}
	}
	resolved := "/" + strings.Join(kept, "/")
	if resolved != WorkspaceDir && !strings.HasPrefix(resolved, WorkspaceDir+"/") {
		return "", false
	}
	return resolved, true
}

// workspaceRelative turns a visitor's path into the form that sandboxd takes.
func workspaceRelative(path string) (string, error) {
	resolved, ok := ResolveWorkspacePath(path)
	if !ok {
		return "", Errorf(CodeInvalid, "Paths must stay inside /workspace")
	}
	if strings.ContainsRune(resolved, 0) {
		return "", Errorf(CodeInvalid, "A path cannot hold a NUL byte")
	}
	if resolved == WorkspaceDir {
		return ".", nil
	}
	return strings.TrimPrefix(resolved, WorkspaceDir+"/"), nil
}
