package sandboxclient

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCheckout_command(t *testing.T) {
	cmd, err := Checkout{
		Repository: " https://Example.ORG:8443/Team/Project.git \n",
		Ref:        "release/1.2", Depth: 3, Submodules: true, LFS: true,
		Timeout: time.Minute, Execution: "some-id", Detach: true,
	}.Command()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/bin/sh", "-c", checkoutScript, "checkout",
		"https://example.org:8443/Team/Project.git", "/workspace/Project", "clone", "release/1.2", "3", "yes", "yes",
	}
	if diff := cmp.Diff(want, cmd.Argv); diff != "" {
		t.Error(diff)
	}
	if cmd.Timeout != time.Minute || cmd.Execution != "some-id" || !cmd.Detach || cmd.Dir != "/" {
		t.Errorf("got %+v", cmd)
	}
	for name, value := range map[string]string{"NO_PROXY": "", "no_proxy": "", "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "https"} {
		if got, ok := cmd.Env[name]; !ok || got != value {
			t.Errorf("%s is %q, %v", name, got, ok)
		}
	}
}

func TestCheckout_commandDefaults(t *testing.T) {
	cmd, err := Checkout{Repository: "https://example.org/a/b"}.Command()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/workspace/b", "clone", "", "", "", ""}, cmd.Argv[dirArgument:]); diff != "" {
		t.Error(diff)
	}
	if cmd.Timeout != checkoutTimeout {
		t.Errorf("it may take %v", cmd.Timeout)
	}
	if got := setting(cmd, "http.lowSpeedTime"); got != "30" {
		t.Errorf("the server may be slow for %q", got)
	}
}

// setting gives git's setting of that name, as the environment says it.
func setting(cmd Command, key string) string {
	for name, value := range cmd.Env {
		if n, ok := strings.CutPrefix(name, "GIT_CONFIG_KEY_"); ok && value == key {
			return cmd.Env["GIT_CONFIG_VALUE_"+n]
		}
	}
	return ""
}

func TestCheckout_allowedURLs(t *testing.T) {
	for _, c := range []struct{ given, url, dir string }{
		{"https://example.org/p", "https://example.org/p", "p"},
		{"HTTPS://EXAMPLE.org/P.git/", "https://example.org/P.git/", "P"},
		{"\r\n\t https://example.org/p.git\n", "https://example.org/p.git", "p"},
		{"https://example.org:443/p", "https://example.org:443/p", "p"},
		{"https://sub_domain.example.org./p", "https://sub_domain.example.org./p", "p"},
		{"https://[2001:DB8::1]:8443/a/p", "https://[2001:db8::1]:8443/a/p", "p"},
		{"https://example.org/ä/ö.git", "https://example.org/%C3%A4/%C3%B6.git", "ö"},
		{"https://example.org/a%20b", "https://example.org/a%20b", "a b"},
		{"https://example.org/a%2Fb", "https://example.org/a%2Fb", "b"},
		{"https://example.org/.git", "https://example.org/.git", "repository"},
		{"https://example.org/a/..", "https://example.org/a/..", "repository"},
		{"https://example.org/a/...git", "https://example.org/a/...git", "repository"},
		{"https://example.org/--upload-pack=x", "https://example.org/--upload-pack=x", "--upload-pack=x"},
		{"https://example.org/$(id)`id`;id", "https://example.org/$%28id%29%60id%60;id", "$(id)`id`;id"},
		{"https://example.org/@scope/p", "https://example.org/@scope/p", "p"},
		{"https://example.org/" + strings.Repeat("x", 300), "https://example.org/" + strings.Repeat("x", 300), "repository"},
		{"http://example.org/p", "http://example.org/p", "p"},
		{"ssh://git@example.org:22/a/p.git", "ssh://git@example.org:22/a/p.git", "p"},
		{"ssh://example.org/p", "ssh://example.org/p", "p"},
		{"git@example.org:a/p.git", "git@example.org:a/p.git", "p"},
		{"example.org:p.git", "example.org:p.git", "p"},
		{"git://example.org/p", "git://example.org/p", "p"},
	} {
		cmd, err := Checkout{Repository: c.given, AllowHTTP: true, Schemes: []string{"ssh", "git"}}.Command()
		if err != nil {
			t.Errorf("%q: %v", c.given, err)
			continue
		}
		if got := cmd.Argv[4]; got != c.url {
			t.Errorf("%q reaches git as %q, want %q", c.given, got, c.url)
		}
		if got := cmd.Argv[dirArgument]; got != "/workspace/"+c.dir {
			t.Errorf("%q goes to %q, want %q", c.given, got, c.dir)
		}
	}
}

func TestCheckout_refusedURLs(t *testing.T) {
	for given, want := range map[string]Code{
		"":     CodeInvalid,
		" \n ": CodeInvalid,
		"https://example.org/" + strings.Repeat("x", maxRepository): CodeInvalid,
		"https://example.org/a b":                                   CodeInvalid,
		"https://example.org/a\nb":                                  CodeInvalid,
		"https://example.org/a\x00b":                                CodeInvalid,
		"https://example.org/a\x7fb":                                CodeInvalid,
		"https://example.org/a%00b":                                 CodeInvalid,
		"https://example.org/a%0ab":                                 CodeInvalid,
		"https://example.org/\xff":                                  CodeInvalid,
		"https://example.org\\@evil.test/p":                         CodeInvalid,
		"https://example.org":                                       CodeInvalid,
		"https://example.org/":                                      CodeInvalid,
		"https://example.org//":                                     CodeInvalid,
		"https:///p":                                                CodeInvalid,
		"https:/p":                                                  CodeInvalid,
		"https:p":                                                   CodeInvalid,
		"https://":                                                  CodeInvalid,
		"//example.org/p":                                           CodeInvalid,
		"https://-example.org/p":                                    CodeInvalid,
		"https://example..org/p":                                    CodeInvalid,
		"https://exa%6dple.org/p":                                   CodeInvalid,
		"https://exämple.org/p":                                     CodeInvalid,
		"https://example.org:/p":                                    CodeInvalid,
		"https://example.org:0/p":                                   CodeInvalid,
		"https://example.org:65536/p":                               CodeInvalid,
		"https://example.org:x/p":                                   CodeInvalid,
		"https://[fe80::1%25eth0]/p":                                CodeInvalid,
		"https://[::1/p":                                            CodeInvalid,
		"https://example.org/p?a=b":                                 CodeInvalid,
		"https://example.org/p?":                                    CodeInvalid,
		"https://example.org/p#main":                                CodeInvalid,
		"https://a%0ab:c@example.org/p":                             CodeInvalid,
		"https://a:b%0a@example.org/p":                              CodeInvalid,
		"https://:b@example.org/p":                                  CodeInvalid,
		"https://a:%ff@example.org/p":                               CodeInvalid,
		"-":                                                         CodeInvalid,
		"--upload-pack=touch /tmp/x":                                CodeInvalid,
		"--upload-pack=x":                                           CodeInvalid,
		"ext::sh -c id":                                             CodeInvalid,
		"ext::id":                                                   CodeInvalid,
		"EXT::id":                                                   CodeInvalid,
		"eXt::sh":                                                   CodeInvalid,
		"fd::17":                                                    CodeInvalid,
		"https::https://example.org/p":                              CodeInvalid,
		"/etc":                                                      CodeInvalid,
		"./p":                                                       CodeInvalid,
		"../p":                                                      CodeInvalid,
		"p":                                                         CodeInvalid,
		"~/p":                                                       CodeInvalid,
		`C:\p`:                                                      CodeInvalid,
		"-oProxyCommand=id:p":                                       CodeInvalid,
		"git@-oProxyCommand=id:p":                                   CodeInvalid,
		"file:///etc":                                               CodeForbidden,
		"FILE://host/etc":                                           CodeForbidden,
		"ftp://example.org/p":                                       CodeForbidden,
		"javascript://example.org/p":                                CodeForbidden,
		"git+ssh://example.org/p":                                   CodeForbidden,
		"http://example.org/p":                                      CodeForbidden,
		"HTTP://example.org/p":                                      CodeForbidden,
		"ssh://git@example.org/p":                                   CodeForbidden,
		"git@example.org:p":                                         CodeForbidden,
		"git://example.org/p":                                       CodeForbidden,
	} {
		_, err := Checkout{Repository: given}.Command()
		if CodeOf(err) != want || err == nil {
			t.Errorf("%q: %v, want %s", given, err, want)
		}
	}
}

// What no configuration allows.
func TestCheckout_neverAllowedURLs(t *testing.T) {
	everything := []string{"ssh", "git", "file", "ext", "fd", "ftp", "local", ""}
	for _, given := range []string{
		"file:///etc", "ext::id", "EXT::id", "fd::3", "/etc", "ftp://example.org/p", "--upload-pack=x",
		"ssh://-oProxyCommand=id/p", "ssh://-l@example.org/p", "ssh://user:secret@example.org/p", "git://user@example.org/p",
		"git@example.org:-p", "git@example.org:/p", "ssh://git@example.org:99999/p",
	} {
		cmd, err := Checkout{Repository: given, AllowHTTP: true, Schemes: everything}.Command()
		if err == nil {
			t.Errorf("%q is %q", given, cmd.Argv[4:])
		}
	}
	cmd, err := Checkout{Repository: "https://example.org/p", Schemes: everything}.Command()
	if err != nil {
		t.Fatal(err)
	}
	if got := cmd.Env["GIT_ALLOW_PROTOCOL"]; got != "https:ssh:git" {
		t.Errorf("git may use %s", got)
	}
}

func TestCheckout_credentials(t *testing.T) {
	for given, want := range map[string][2]string{
		"https://ada:s3cret@example.org:8443/p":            {"ada", "s3cret"},
		"https://ghp_token@example.org:8443/p":             {"ghp_token", ""},
		"https://a%40b:p%2Fs%25%27%22$@Example.org:8443/p": {"a@b", `p/s%'"$`},
	} {
		c := Checkout{Repository: given}
		cmd, err := c.Command()
		if err != nil {
			t.Errorf("%q: %v", given, err)
			continue
		}
		if got := [2]string{cmd.Env[gitUserVariable], cmd.Env[gitPasswordVariable]}; got != want {
			t.Errorf("%q: git is given %q", given, got)
		}
		if setting(cmd, "credential.https://example.org:8443.helper") != credentialHelper {
			t.Errorf("%q: the helper is not that of the host alone", given)
		}
		if got := c.Public(); got != "https://example.org:8443/p" || cmd.Argv[4] != got {
			t.Errorf("%q: shown as %q, given as %q", given, got, cmd.Argv[4])
		}
	}
}

func TestCheckout_withoutCredentialsThereIsNoHelper(t *testing.T) {
	cmd, err := Checkout{Repository: "https://example.org/p"}.Command()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range cmd.Env {
		if strings.HasPrefix(name, "SANDGATE") || strings.HasPrefix(value, "credential.https") {
			t.Errorf("%s is %q", name, value)
		}
	}
}

func TestCheckout_publicHidesWhatIsNoURL(t *testing.T) {
	for given, want := range map[string]string{
		"https://ada:s3cret@exa mple.org/p":      "exa mple.org/p",
		"https://ada:s3/cret@example.org/p":      "example.org/p",
		"https:ada:s3cret@example.org/p":         "example.org/p",
		"ada:s3cret@example.org/p":               "example.org/p",
		"ada.b:s3cret@example.org":               "example.org",
		"https://example.org/p?access_token=s3":  "https://example.org/p",
		"https://example.org/p#s3cret":           "https://example.org/p",
		"https://example.org/p?x=@s3cret":        "https://example.org/p",
		"  file:///etc\n":                        "file:///etc",
		"ssh://ada:s3cret@example.org/p":         "example.org/p",
		"a\x1b[31mb":                             "a [31mb",
		strings.Repeat("x", maxMessage+5):        strings.Repeat("x", maxMessage) + "…",
		"https://ada:s3cret@EXAMPLE.org/p.git\n": "https://example.org/p.git",
	} {
		if got := (Checkout{Repository: given}).Public(); got != want {
			t.Errorf("%q is shown as %q", given, got)
		}
	}
}

func TestCheckout_refs(t *testing.T) {
	sha := "0123456789abcdefABCDEF0123456789abcdef01"
	for given, want := range map[string][2]string{
		"":                          {howClone, ""},
		" ":                         {howClone, ""},
		"HEAD":                      {howClone, ""},
		"main\n":                    {howClone, "main"},
		"refs/heads/main":           {howClone, "main"},
		"v1.0":                      {howClone, "v1.0"},
		"feature/ü+%$(id)":          {howClone, "feature/ü+%$(id)"},
		"\xff\xfe":                  {howClone, "\xff\xfe"},
		"refs/tags/v1":              {howFetch, "refs/tags/v1"},
		"refs/pull/1/head":          {howFetch, "refs/pull/1/head"},
		sha:                         {howCommit, strings.ToLower(sha)},
		sha + sha[:24]:              {howCommit, strings.ToLower(sha + sha[:24])},
		sha[:39]:                    {howGuess, sha[:39]},
		"dead":                      {howGuess, "dead"},
		"2024":                      {howGuess, "2024"},
		"bee":                       {howClone, "bee"},
		"deadbeef/x":                {howClone, "deadbeef/x"},
		strings.Repeat("y", maxRef): {howClone, strings.Repeat("y", maxRef)},
	} {
		how, ref, err := Checkout{Ref: given}.how()
		if got := [2]string{how, ref}; err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", given, got, err, want)
		}
	}
}

func TestCheckout_refusedRefs(t *testing.T) {
	for _, ref := range []string{
		"-", "--upload-pack=x", "-b", "a b", "a\nb", "a\x00b", "a\x7f", "a..b", "a~1", "a^", "a:b", "a?", "a*", "a[b", `a\b`,
		"a@{1}", "@", "/a", "a/", "a//b", ".a", "a/.b", "a.", "a.lock", "a.lock/b", "refs/heads/", "refs/heads/-x", "+a:b",
		strings.Repeat("y", maxRef+1),
	} {
		if _, err := (Checkout{Repository: "https://example.org/p", Ref: ref}).Command(); err == nil || CodeOf(err) != CodeInvalid {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

func TestCheckout_targets(t *testing.T) {
	for dir, want := range map[string]string{
		"": "/workspace/p", "app": "/workspace/app", "/workspace/a/../b/": "/workspace/b",
		"/workspace": "/workspace", ".": "/workspace", "-x": "/workspace/-x", "$(id)": "/workspace/$(id)",
	} {
		cmd, err := Checkout{Repository: "https://example.org/p", Dir: dir}.Command()
		if err != nil || cmd.Argv[dirArgument] != want {
			t.Errorf("%q: %v, %v", dir, cmd.Argv, err)
		}
	}
	for _, dir := range []string{"/", "/etc", "..", "/workspace/../etc", "/workspacefoo", "a\x00b"} {
		if _, err := (Checkout{Repository: "https://example.org/p", Dir: dir}).Command(); CodeOf(err) != CodeInvalid {
			t.Errorf("%q: %v", dir, err)
		}
	}
}

func TestCheckout_depths(t *testing.T) {
	for _, depth := range []int{-1, maxDepth + 1} {
		if _, err := (Checkout{Repository: "https://example.org/p", Depth: depth}).Command(); CodeOf(err) != CodeInvalid {
			t.Errorf("%d: %v", depth, err)
		}
	}
}

// The script says at its top what its codes mean.
func TestCheckout_exitCodesAreTheScripts(t *testing.T) {
	want := fmt.Sprintf("no_git=%d not_empty=%d no_ref=%d no_commits=%d no_lfs=%d submodules_failed=%d\n",
		exitNoGit, exitNotEmpty, exitNoRef, exitNoCommits, exitNoLFS, exitSubmodules)
	if !strings.Contains(checkoutScript, want) {
		t.Errorf("the script does not say %s", want)
	}
	for _, code := range []string{WarningLFSPointers, WarningSubmodulesLeftOut} {
		if !strings.Contains(checkoutScript, "warning "+code+" ") {
			t.Errorf("the script does not warn of %s", code)
		}
	}
}

func TestParseCheckout(t *testing.T) {
	sha := strings.Repeat("ab", 20)
	got := ParseCheckout([]byte("warning lfs_pointers Pointers: 2\ncommit " + sha + "\nbranch feature/x\n"))
	want := CheckedOut{Commit: sha, Ref: "feature/x", Warnings: []CheckoutWarning{{"lfs_pointers", "Pointers: 2"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseCheckout_trustsNothing(t *testing.T) {
	for _, stdout := range []string{
		"", "\n\n", "commit\n", "commit xyz\n", "commit " + strings.Repeat("a", 41) + "\n", " commit " + strings.Repeat("a", 40) + "\n",
		"branch \n", "branch -x\n", "branch a\x1b[0m\n", "branch a\xff\n", "branch " + strings.Repeat("x", maxRef+1) + "\n",
		"warning\n", "warning x\n", "warning X y\n", "warning \x1b y\n", "warning " + strings.Repeat("x", 50) + " y\n", "\x00\x01\x02",
	} {
		if got := ParseCheckout([]byte(stdout)); got.Commit != "" || got.Ref != "" || got.Warnings != nil {
			t.Errorf("%q is %+v", stdout, got)
		}
	}
	flood := ParseCheckout([]byte(strings.Repeat("warning x \x1b]0;y\a"+strings.Repeat("z", 2000)+"\n", 10_000)))
	if len(flood.Warnings) != maxWarnings {
		t.Fatalf("%d warnings", len(flood.Warnings))
	}
	for _, w := range flood.Warnings {
		if len(w.Message) > maxMessage+len("…") || strings.ContainsFunc(w.Message, isControl) {
			t.Errorf("it says %q", w.Message)
		}
	}
}

func FuzzCheckout(f *testing.F) {
	for _, seed := range []string{
		"https://a:b@example.org/p.git", "ext::sh", "git@example.org:p", "https://[::1]:1/p", "ssh://u@h/p", "http://h:1/p%2f?x#y", "-x",
	} {
		f.Add(seed, "main", "app")
	}
	f.Fuzz(func(t *testing.T, repository, ref, dir string) {
		c := Checkout{Repository: repository, Ref: ref, Dir: dir, AllowHTTP: true, Schemes: []string{"ssh", "git"}}
		public := c.Public()
		if strings.ContainsFunc(public, isControl) || len(public) > maxRepository+3*maxName {
			t.Errorf("shown as %q", public)
		}
		cmd, err := c.Command()
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("refused with %v", err)
			}
			return
		}
		if public != cmd.Argv[4] {
			t.Errorf("shown as %q, given as %q", public, cmd.Argv[4])
		}
		checkArguments(t, cmd)
	})
}

func checkArguments(t *testing.T, cmd Command) {
	t.Helper()
	url, dir, ref := cmd.Argv[4], cmd.Argv[dirArgument], cmd.Argv[7]
	scheme, rest, isURL := strings.Cut(url, "://")
	if isURL && !slices.Contains([]string{"https", "http", "ssh", "git"}, scheme) {
		t.Errorf("git may use %q", url)
	}
	authority, _, _ := strings.Cut(rest, "/")
	if scheme != "ssh" && strings.Contains(authority, "@") {
		t.Errorf("git is given %q", url)
	}
	if strings.HasPrefix(url, "-") || strings.HasPrefix(ref, "-") || strings.ContainsFunc(url+ref, isControl) || strings.Contains(url, " ") {
		t.Errorf("git is given %q and %q", url, ref)
	}
	if got, ok := ResolveWorkspacePath(dir); !ok || got != dir {
		t.Errorf("git is to clone to %q", dir)
	}
	for name, value := range cmd.Env {
		if strings.ContainsAny(value, "\x00") || strings.HasPrefix(name, "SANDGATE") && strings.ContainsFunc(value, isControl) {
			t.Errorf("%s is %q", name, value)
		}
	}
}

func FuzzParseCheckout(f *testing.F) {
	f.Add([]byte("commit " + strings.Repeat("ab", 20) + "\nbranch x\nwarning a b\n"))
	f.Fuzz(func(t *testing.T, stdout []byte) {
		out := ParseCheckout(stdout)
		if out.Commit != "" && !isObjectName(out.Commit) || out.Ref != "" && !validRef(out.Ref) || len(out.Warnings) > maxWarnings {
			t.Errorf("got %+v", out)
		}
	})
}
