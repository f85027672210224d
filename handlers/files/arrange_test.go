package files

import (
	"strings"
	"testing"

	"sandgate/sandboxclient"
)

func TestPost(t *testing.T) {
	var did string
	s := fake{
		mkdir: func(path string) (sandboxclient.FileInfo, error) {
			did = "mkdir " + path
			return sandboxclient.FileInfo{}, nil
		},
		rename: func(from, to string, replace bool) (sandboxclient.FileInfo, error) {
			did = "rename " + from + " " + to
			if replace {
				did += " replace"
			}
			return sandboxclient.FileInfo{}, nil
		},
	}
	for query, want := range map[string]string{
		"path=a/b":                       "mkdir /workspace/a/b",
		"path=b&from=a":                  "rename /workspace/a /workspace/b",
		"path=b&from=/workspace/a":       "rename /workspace/a /workspace/b",
		"path=b&from=a&replace=true":     "rename /workspace/a /workspace/b replace",
		"path=b%20c&from=..%2Fworkspace": "rename /workspace /workspace/b c",
	} {
		w, err := ask(t, s, "POST", query, "")
		if err != nil || w.Code != 200 || did != want || !strings.HasPrefix(w.Body.String(), `{"saved":"/workspace/`) {
			t.Errorf("%s: %d %q, %v: %s", query, w.Code, w.Body, err, did)
		}
	}
}

func TestPost_refused(t *testing.T) {
	for _, query := range []string{"", "path=../x", "path=b&from=../../etc/passwd", "path=b&from=a%00"} {
		if _, err := ask(t, fake{}, "POST", query, ""); sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid {
			t.Errorf("%s: %v", query, err)
		}
	}
}
