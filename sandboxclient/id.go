package sandboxclient

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"
)

// An ID names a sandbox: 26 lower-case base32 characters derived from its Ref.
// It says nothing of owner, app or name to who does not have the key.
type ID string

const idLength = 26

// Valid says whether the id has the form that every derived id has.
func (id ID) Valid() bool {
	return len(id) == idLength && strings.Trim(string(id), "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// A Ref says whose sandbox it is, and which: nobody reaches another owner's or
// app's sandbox by choosing a name.
type Ref struct {
	Owner string
	App   string
	Name  string
	// Ephemeral means that nothing of the sandbox is to outlive its use: its
	// workspace goes with it, also when the gateway died meanwhile. It has no
	// part in the id.
	Ephemeral bool
}

// workspace says what becomes of it when the sandbox ends by itself.
func (r Ref) workspace() Workspace {
	if r.Ephemeral {
		return RemoveWorkspace
	}
	return KeepWorkspace
}

// DeriveID gives the id of a Ref under a gateway's key.
func DeriveID(key []byte, ref Ref) ID {
	mac := hmac.New(sha256.New, key)
	for _, field := range []string{ref.Owner, ref.App, ref.Name} {
		_ = binary.Write(mac, binary.BigEndian, uint64(len(field)))
		mac.Write([]byte(field))
	}
	sum := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil))
	return ID(strings.ToLower(sum[:idLength]))
}
