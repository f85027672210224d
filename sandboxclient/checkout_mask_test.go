package sandboxclient

import (
	"strings"
	"testing"
)

// However output is cut, nothing of a secret comes out, and nothing else is lost.
func TestMask(t *testing.T) {
	c := Checkout{Repository: "https://lovelace:s3cret%2Fs3c@example.org/p"}
	said := "remote: lovelace, s3cret/s3cret/s3c lovelac\r s3c\r\x00\xff bG92ZWxhY2U6czNjcmV0L3MzYw== s3cret%2Fs3c s3cret/s3"
	want := "remote: ***, ***ret/s3c lovelac\r s3c\r\x00\xff *** *** s3cret/s3"
	for size := range len(said) {
		m, got := c.Mask(), ""
		for rest := said; rest != ""; {
			n := min(size+1, len(rest))
			got += string(m.Pass([]byte(rest[:n])))
			rest = rest[n:]
		}
		if got += string(m.End()); got != want {
			t.Fatalf("in pieces of %d: %q", size+1, got)
		}
	}
}

func TestMask_withoutSecrets(t *testing.T) {
	for _, repository := range []string{"https://example.org/p", "https://a:b@example.org/p", "no URL"} {
		m := Checkout{Repository: repository}.Mask()
		if got := string(m.Pass([]byte("a b"))) + string(m.End()); got != "a b" {
			t.Errorf("%s: %q", repository, got)
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("s3cret-word", "x s3cret-s3cret-word y", uint8(3))
	f.Add("aaaa", "aaaaaaaaaaa", uint8(1))
	f.Fuzz(func(t *testing.T, password, said string, size uint8) {
		m := Checkout{Repository: "https://u:" + password + "@example.org/p"}.Mask()
		var got strings.Builder
		for rest := said; rest != ""; {
			n := min(int(size)+1, len(rest))
			got.Write(m.Pass([]byte(rest[:n])))
			rest = rest[n:]
		}
		got.Write(m.End())
		for _, secret := range m.secrets {
			if strings.Contains(got.String(), secret) && !strings.Contains(secret, "*") {
				t.Errorf("%q came out in %q", secret, got.String())
			}
		}
	})
}
