package sandboxclient

import (
	"testing"

	"pgregory.net/rapid"
)

// Two different refs never share an id, however their fields run together.
func TestDeriveID_separatesFields(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	ref := rapid.Custom(func(t *rapid.T) Ref {
		field := rapid.StringMatching(`[ab/]{0,3}`)
		return Ref{Owner: field.Draw(t, "owner"), App: field.Draw(t, "app"), Name: field.Draw(t, "name")}
	})
	rapid.Check(t, func(t *rapid.T) {
		one, other := ref.Draw(t, "one"), ref.Draw(t, "other")
		a, b := DeriveID(key, one), DeriveID(key, other)
		if (a == b) != (one == other) {
			t.Fatalf("%v → %s, %v → %s", one, a, other, b)
		}
		if !a.Valid() {
			t.Fatalf("%s is not a valid id", a)
		}
		if DeriveID([]byte("another key"), one) == a {
			t.Fatal("the key does not matter")
		}
	})
}

func TestID_Valid(t *testing.T) {
	for _, id := range []ID{"", "../../etc", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxy1", "abcdefghijklmnopqrstuvwxyza"} {
		if id.Valid() {
			t.Errorf("%q is valid", id)
		}
	}
}
