package sandboxclient

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// A Mask takes a checkout's credentials out of one stream of what its command
// prints: git never says them, but servers can, and git passes on what they say.
type Mask struct {
	secrets []string
	hide    *strings.Replacer
	held    []byte // the end of what came, which may be the beginning of a secret
}

// minSecret is the shortest word that is masked: a shorter one says nothing,
// and is part of every other sentence.
const minSecret = 4

// Mask gives a new mask.
func (c Checkout) Mask() *Mask {
	m := &Mask{secrets: c.secrets()}
	var pairs []string
	for _, secret := range m.secrets {
		pairs = append(pairs, secret, "***")
	}
	m.hide = strings.NewReplacer(pairs...)
	return m
}

// secrets are the forms in which a server could repeat what it was sent, the
// longest first.
func (c Checkout) secrets() []string {
	r, err := parseRemote(c.Repository)
	if err != nil || !r.hasCredentials() {
		return nil
	}
	secrets := []string{base64.StdEncoding.EncodeToString([]byte(r.user + ":" + r.password))}
	for _, part := range []string{r.password, r.user} {
		secrets = append(secrets, url.QueryEscape(part), url.PathEscape(part), part)
	}
	secrets = slices.DeleteFunc(secrets, func(s string) bool { return len(s) < minSecret })
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(secrets)
}

// Pass gives what may be shown after this piece of output. The rest is held
// back until it is known to be harmless.
func (m *Mask) Pass(data []byte) []byte {
	if len(m.secrets) == 0 {
		return data
	}
	text := m.hide.Replace(string(m.held) + string(data))
	shown := len(text) - m.beginning(text)
	m.held = []byte(text[shown:])
	return []byte(text[:shown])
}

// End gives what was held back when no more output comes.
func (m *Mask) End() []byte { return m.held }

// beginning is the length of the longest end of a text that a secret begins with.
func (m *Mask) beginning(text string) int {
	longest := 0
	for _, secret := range m.secrets {
		for n := min(len(secret)-1, len(text)); n > longest; n-- {
			if strings.HasSuffix(text, secret[:n]) {
				longest = n
			}
		}
	}
	return longest
}
