package identity

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sandgate/sandboxclient"
)

func TestSharer(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := NewSharer([]byte("key"))
	want := Share{Owner: "alice", Key: "abcdefgh", Kind: ShareDir, Target: "/workspace/ä\x00<>", Expires: now.Unix() + 60}
	token := s.Seal(want)
	if strings.Trim(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
		t.Errorf("%s needs escaping", token)
	}
	if got, err := s.Open(token, now); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	_, err := s.Open(token, now.Add(time.Minute))
	refused(t, err, sandboxclient.CodeNotFound)
	_, err = NewSharer([]byte("other")).Open(token, now)
	refused(t, err, sandboxclient.CodeNotFound)
	_, err = s.Open(strings.Repeat("A", MaxLink+1), now)
	refused(t, err, sandboxclient.CodeNotFound)
}

// A link that was changed anywhere is none.
func TestSharer_forged(t *testing.T) {
	s := NewSharer([]byte("key"))
	share := Share{Owner: "alice", Kind: ShareFile, Target: "/workspace/a", Expires: 1 << 40}
	token := s.Seal(share)
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(token)-1).Draw(t, "at")
		sign := rapid.SampledFrom([]byte("Aaz09-_.=")).Draw(t, "sign")
		forged := token[:at] + string(sign) + token[at+1:]
		got, err := s.Open(forged, time.Unix(0, 0))
		if err == nil && got != share { // the last sign has bits that mean nothing
			t.Fatalf("%s opens %+v", forged, got)
		}
	})
}
