package sandboxclient

import (
	"encoding/base64"
	"strings"
	"testing"
	"unicode/utf8"

	"sandgate/sandboxclient/wire"
)

const secretURL = "https://ada:s3cret%2F@example.org/p"

func exited(code int) Exit { return Exit{Status: wire.StatusExited, ExitCode: code} }

func TestFailure_isNoneAfterSuccess(t *testing.T) {
	if err := (Checkout{}).Failure(exited(0), []byte("fatal: not at all\n")); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestFailure_ofGit(t *testing.T) {
	for stderr, want := range map[string]struct {
		code  Code
		words string
	}{
		"fatal: could not read Username for 'https://example.org': terminal prompts disabled\n":               {CodeForbidden, "does not exist, or needs credentials"},
		"fatal: Authentication failed for 'https://example.org/p/'\n":                                         {CodeForbidden, "does not exist, or needs credentials"},
		"fatal: unable to access 'https://example.org/p/': The requested URL returned error: 403\n":           {CodeForbidden, "Access to https://example.org/p, or"},
		"remote: Not here\nfatal: repository 'https://example.org/p/' not found\n":                            {CodeNotFound, "There is no repository"},
		"fatal: unable to access 'https://example.org/p/': The requested URL returned error: 410\n":           {CodeNotFound, "There is no repository"},
		"warning: Could not find remote branch x to clone.\nfatal: Remote branch x not found in upstream o\n": {CodeNotFound, "no branch, tag or commit v1"},
		"fatal: couldn't find remote ref refs/pull/7/head\n":                                                  {CodeNotFound, "no branch, tag or commit v1"},
		"error: RPC failed; curl 28 Operation too slow. Less than 1024 bytes/sec\nfatal: early EOF\n":         {CodeTimeout, "too slowly"},
		"Receiving objects: 3%\rfatal: write error: No space left on device\nfatal: early EOF\n":              {CodeNoSpace, "does not fit"},
		"error: unable to create file a: Disk quota exceeded\nfatal: unable to checkout working tree\n":       {CodeNoSpace, "does not fit"},
		"fatal: Out of memory, malloc failed (tried to allocate 9 bytes)\nfatal: index-pack failed\n":         {CodeTooLarge, "more memory"},
		"error: index-pack died of signal 9\nfatal: fetch-pack: invalid index-pack output\n":                  {CodeTooLarge, "more memory"},
		"fatal: transport 'file' not allowed\n":                                                               {CodeForbidden, "transport 'file' not allowed"},
		"fatal: unable to access 'https://example.org/p/': Could not resolve host: example.org\n":             {CodeBadGateway, "failed: Could not resolve host: example.org"},
		"fatal: unable to access 'https://example.org/p/': SSL certificate problem: expired\n":                {CodeBadGateway, "failed: SSL certificate problem"},
		"fatal: unable to access 'https://example.org/p/': CONNECT tunnel failed, response 502\n":             {CodeBadGateway, "cannot be reached"},
		"fatal: unable to access 'https://example.org/p/': CONNECT tunnel failed, response 403\n":             {CodeBadGateway, "failed: CONNECT tunnel failed, response 403"},
		"fatal: protocol error: bad line length character: <htm\n":                                            {CodeBadGateway, "bad line length"},
		"error: invalid path '.git/config'\nfatal: unable to checkout working tree\n":                         {CodeBadGateway, "invalid path '.git/config'"},
		"fatal: Remote branch abcd not found in upstream o\nfatal: early EOF\nerror: Operation too slow\n":    {CodeTimeout, "too slowly"},
		"": {CodeBadGateway, "git said nothing"},
		"remote: fatal: No space left on device\n": {CodeBadGateway, "git said nothing"},
	} {
		err := Checkout{Repository: "https://example.org/p", Ref: "v1"}.Failure(exited(128), []byte(stderr))
		if CodeOf(err) != want.code || !strings.Contains(err.Error(), want.words) {
			t.Errorf("%q is %v, want %s and %q", stderr, err, want.code, want.words)
		}
	}
}

func TestFailure_ofTheScript(t *testing.T) {
	for code, want := range map[int]Code{
		exitNoGit: CodeUnsupported, exitNoLFS: CodeUnsupported, exitNotEmpty: CodeConflict,
		exitNoRef: CodeNotFound, exitNoCommits: CodeNotFound, exitSubmodules: CodeBadGateway,
	} {
		if err := (Checkout{Repository: secretURL}).Failure(exited(code), nil); CodeOf(err) != want {
			t.Errorf("%d: %v, want %s", code, err, want)
		}
	}
	err := Checkout{Repository: secretURL}.Failure(exited(exitSubmodules), []byte("fatal: transport 'ext' not allowed\nfatal: clone of 'ext::id' into submodule path 'x' failed\n"))
	if CodeOf(err) != CodeForbidden || !strings.Contains(err.Error(), "submodule could not be fetched") {
		t.Errorf("got %v", err)
	}
}

func TestFailure_ofTheEnd(t *testing.T) {
	for status, want := range map[Status]Code{
		wire.StatusTimedOut: CodeTimeout, wire.StatusCanceled: CodeCanceled, wire.StatusOOMKilled: CodeTooLarge,
		wire.StatusOutputLimited: CodeTooLarge, wire.StatusSignaled: CodeUnavailable, "": CodeUnavailable,
	} {
		err := Checkout{Repository: secretURL}.Failure(Exit{Status: status, DurationMS: 61_200, Signal: "SIGKILL"}, nil)
		if CodeOf(err) != want || !strings.Contains(err.Error(), "https://example.org/p") {
			t.Errorf("%s: %v, want %s", status, err, want)
		}
	}
}

// A server knows the credentials, and can say them.
func TestFailure_repeatsNoCredentials(t *testing.T) {
	basic := base64.StdEncoding.EncodeToString([]byte("ada:s3cret/"))
	err := Checkout{Repository: secretURL}.Failure(exited(128), []byte("fatal: remote error: you sent s3cret/, s3cret%2F, "+basic+" and "+secretURL+"\n"))
	for _, secret := range []string{"s3cret", basic} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("it says %s", err)
		}
	}
	refused := Checkout{Repository: secretURL}.Failure(exited(128), []byte("fatal: Authentication failed for 'x'\n"))
	if CodeOf(refused) != CodeForbidden || !strings.Contains(refused.Error(), "does not accept the credentials") {
		t.Errorf("got %v", refused)
	}
}

func FuzzFailure(f *testing.F) {
	f.Add(128, "exited", []byte("fatal: unable to access 'https://example.org/p/': x\x1b[31m s3cret/\r\n"))
	f.Add(106, "exited", []byte("error: \xff\xfe\nremote: x\n"))
	f.Add(1, "signaled", []byte(nil))
	f.Fuzz(func(t *testing.T, code int, status string, stderr []byte) {
		exit := Exit{Status: Status(status), ExitCode: code, Signal: status}
		err := Checkout{Repository: secretURL, Ref: "v1"}.Failure(exit, stderr)
		if (err == nil) != (code == 0 && exit.Status == wire.StatusExited) {
			t.Fatalf("got %v", err)
		}
		if err == nil {
			return
		}
		message := err.(*Error).Message
		if strings.Contains(message, "s3cret/") || strings.ContainsFunc(message, isControl) || !utf8.ValidString(message) || len(message) > 4*maxLine+maxMessage {
			t.Errorf("it says %q", message)
		}
	})
}
