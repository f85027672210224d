package httpapi

import (
	"strings"
	"testing"

	"sandgate/sandboxclient"
)

// A field that there is not is refused by name, and so is all that is no JSON.
func TestDecodeJSON(t *testing.T) {
	var into struct {
		TTL int `json:"ttl"`
	}
	for body, want := range map[string]string{
		` {"ttl":5} `: "", "": "it is empty", " ": "it is empty", `{"expires":60}`: `unknown field "expires"`,
		`{"ttl":5}{}`: "more than one", `{"ttl":5} x`: "more than one", `{"ttl":`: "expected", "ttl": "expected",
	} {
		err := DecodeJSON([]byte(body), &into)
		if want == "" && (err != nil || into.TTL != 5) {
			t.Errorf("%s: %v, %v", body, into, err)
		}
		if want != "" && (sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
