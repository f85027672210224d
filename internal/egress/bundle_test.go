package egress

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
)

// authority gives a certificate of a new authority, in PEM.
func authority(t *testing.T, name string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func write(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBundle(t *testing.T) {
	one, two := authority(t, "one"), authority(t, "two")
	key := "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"
	b := &Bundle{}
	for _, content := range []string{one, "# comment\n" + one + key + two, two} {
		if err := b.Add(write(t, content)); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.PEM(); got != one+two {
		t.Errorf("the bundle is %s", got)
	}
	if b.Extra() != b.PEM() || b.Len() != 2 || b.Roots() == nil {
		t.Errorf("%d authorities, of which extra: %s", b.Len(), b.Extra())
	}
	if err := b.Add(write(t, key)); err == nil {
		t.Error("a file without a certificate passes")
	}
	if err := b.Add("/nonexistent"); err == nil {
		t.Error("a file that is not there passes")
	}
	if err := b.Add(write(t, strings.Repeat("x", maxBundle+1))); err == nil {
		t.Error("an endless file passes")
	}
}

func TestBundle_knowsTheCommonOnes(t *testing.T) {
	host := HostBundle()
	if host == "" {
		sandboxtest.Missing(t, "this host trusts nobody: install ca-certificates")
	}
	b := &Bundle{}
	if err := b.Add(host); err != nil {
		t.Fatal(err)
	}
	all, extra := strings.Count(b.PEM(), "BEGIN"), strings.Count(b.Extra(), "BEGIN")
	if all < 10 || extra > all/2 {
		t.Errorf("of %d authorities %d are called uncommon", all, extra)
	}
	if err := b.Add(write(t, authority(t, "house"))); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.Extra(), "BEGIN"); got != extra+1 {
		t.Errorf("the house's authority makes %d uncommon ones of %d", got, extra)
	}
	t.Logf("%s: %d authorities, %d of them not common", host, all, extra)
}
