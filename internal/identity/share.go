package identity

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"sandgate/sandboxclient"
)

// What can be shared.
const (
	ShareRun  = "run"
	ShareFile = "file"
	ShareDir  = "dir"
)

// A Share is what a link lets whoever has it look at, and nothing else.
type Share struct {
	Owner   string `json:"o"`
	Key     string `json:"k,omitempty"` // that made it; the link is as good as the key
	Kind    string `json:"t"`
	Target  string `json:"p"` // a run's id, or a path
	Expires int64  `json:"e"` // seconds since 1970
}

const (
	// shareUse tells the key of links from other keys that come from the same.
	shareUse = "sandgate share links 1"
	// MaxLink bounds a link's token: a longer one is not opened.
	MaxLink = 8 << 10
)

// A Sharer makes links and knows those that it made. It keeps nothing: a link
// carries what it is for, with a code that nobody else can make.
type Sharer struct{ key []byte }

// NewSharer makes a sharer whose key comes from the gateway's.
func NewSharer(gateway []byte) *Sharer {
	key, err := hkdf.Key(sha256.New, gateway, nil, shareUse, sha256.Size)
	if err != nil {
		panic(err) // only for lengths that nobody can ask for
	}
	return &Sharer{key}
}

// Seal gives the token of a link.
func (s *Sharer) Seal(share Share) string {
	claim, _ := json.Marshal(share) // strings and a number
	return encodeLink(claim) + "." + encodeLink(s.code(claim))
}

// Open gives what a token is for. One that was changed, made by somebody else or
// has expired is like one that never was.
func (s *Sharer) Open(token string, now time.Time) (Share, error) {
	first, second, _ := strings.Cut(token, ".")
	claim, err := base64.RawURLEncoding.DecodeString(first)
	code, bad := base64.RawURLEncoding.DecodeString(second)
	if len(token) > MaxLink || err != nil || bad != nil || !hmac.Equal(code, s.code(claim)) {
		return Share{}, noLink()
	}
	var share Share
	if json.Unmarshal(claim, &share) != nil || now.Unix() >= share.Expires {
		return Share{}, noLink()
	}
	return share, nil
}

func (s *Sharer) code(claim []byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(claim)
	return mac.Sum(nil)
}

func encodeLink(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func noLink() error {
	return sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such link, or it has expired")
}
