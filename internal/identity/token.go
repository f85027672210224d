package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"net/url"
	"regexp"
	"strings"
)

// The parts of a key's text; see the package comment.
const (
	tokenPrefix  = "sg_"
	idLength     = 8
	secretLength = 32
	checkLength  = 7
	tokenLength  = len(tokenPrefix) + idLength + 1 + secretLength + checkLength
)

var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// A Token is a key as its holder has it. Printing one tells its identifier
// alone; Reveal gives the text.
type Token struct{ id, secret string }

// NewToken makes one that nobody can guess.
func NewToken() Token {
	var random [25]byte
	_, _ = rand.Read(random[:]) // never fails
	return Token{id: letters.EncodeToString(random[:5]), secret: letters.EncodeToString(random[5:])}
}

// ParseToken reads a key's text. Whatever is no key, or was mistyped, is not ok.
func ParseToken(text string) (_ Token, ok bool) {
	rest, found := strings.CutPrefix(text, tokenPrefix)
	if !found || len(text) != tokenLength || rest[idLength] != '_' {
		return Token{}, false
	}
	t := Token{id: rest[:idLength], secret: rest[idLength+1 : idLength+1+secretLength]}
	return t, text == t.Reveal() && plain(t.id+t.secret)
}

func plain(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// ID is the part under which the database knows the key.
func (t Token) ID() string { return t.id }

// Reveal gives the whole text, for the one who is to hold it.
func (t Token) Reveal() string {
	body := tokenPrefix + t.id + "_" + t.secret
	return body + checksum(body)
}

// String implements fmt.Stringer, for logs.
func (t Token) String() string { return tokenPrefix + t.id + "_…" }

// GoString is for %#v.
func (t Token) GoString() string { return t.String() }

// Hash is what the database keeps of the secret.
func (t Token) Hash() []byte {
	sum := sha256.Sum256([]byte(t.secret))
	return sum[:]
}

// matches compares with a hash, in a time that says nothing of where they differ.
func (t Token) matches(hash []byte) bool {
	return subtle.ConstantTimeCompare(t.Hash(), hash) == 1
}

// checksum tells a key from what only looks like one. It is no secret.
func checksum(body string) string {
	return letters.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
}

var likeToken = regexp.MustCompile(`sg_[a-z2-7]{8}_[a-z2-7]{39}`)

// inQuery says whether a query holds a key, under whatever name.
func inQuery(query string) bool {
	if !strings.Contains(query, "sg") {
		return false
	}
	text, err := url.QueryUnescape(query)
	if err != nil {
		text = query
	}
	for _, found := range likeToken.FindAllString(text, -1) {
		if _, ok := ParseToken(found); ok {
			return true
		}
	}
	return false
}
