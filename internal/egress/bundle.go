package egress

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// maxBundle bounds a file of certificates; a system's own is some 250 kB.
const maxBundle = 4 << 20

const certificateType = "CERTIFICATE"

// hostBundles are where systems keep the authorities that they trust.
var hostBundles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Alpine, Arch
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Fedora, RHEL
	"/etc/ssl/ca-bundle.pem",                            // SUSE
	"/etc/ssl/cert.pem",
}

// HostBundle gives the file of the authorities that this host trusts; "" when
// there is none.
func HostBundle() string {
	for _, file := range append([]string{os.Getenv("SSL_CERT_FILE")}, hostBundles...) {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

// A Bundle is authorities to trust. Its zero value trusts nobody.
type Bundle struct {
	all, extra bytes.Buffer // PEM
	pool       *x509.CertPool
	seen       map[string]bool
}

// distributed is where Debian and its kin keep the authorities that come with
// the system; those that somebody added lie elsewhere.
const distributed = "/usr/share/ca-certificates"

// common are the authorities that browsers trust, and programs with a list of
// their own: today's, and those of this system's age.
var common = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for root := range bundle.Roots() {
		known[string(root.Certificate)] = true
	}
	_ = filepath.WalkDir(distributed, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // then it is not known from here
		}
		if data, err := readBounded(file); err == nil {
			for der := range certificates(data) {
				known[string(der)] = true
			}
		}
		return nil
	})
	return known
})

// certificates gives those of a PEM file. What else it holds, a key say, is left
// out.
func certificates(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
			if block.Type == certificateType && !yield(block.Bytes) {
				return
			}
		}
	}
}

// Add takes the certificates of a PEM file in, each once.
func (b *Bundle) Add(file string) error {
	data, err := readBounded(file)
	if err != nil {
		return err
	}
	found := false
	for der := range certificates(data) {
		found = true
		b.add(der)
	}
	if !found {
		return fmt.Errorf("%s holds no certificate in PEM", file)
	}
	return nil
}

// add leaves out what cannot be read: one strange certificate among the
// system's must not spoil the others.
func (b *Bundle) add(der []byte) {
	if b.seen == nil {
		b.seen, b.pool = map[string]bool{}, x509.NewCertPool()
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil || b.seen[string(der)] {
		return
	}
	b.seen[string(der)] = true
	b.pool.AddCert(certificate)
	block := &pem.Block{Type: certificateType, Bytes: der}
	_ = pem.Encode(&b.all, block) // into memory
	if !common()[string(der)] {
		_ = pem.Encode(&b.extra, block)
	}
}

// PEM gives all certificates.
func (b *Bundle) PEM() string { return b.all.String() }

// Extra gives those that are not trusted everywhere: this house's own, say.
func (b *Bundle) Extra() string { return b.extra.String() }

// Roots gives them as TLS wants them; nil, which is the host's own, when there
// are none.
func (b *Bundle) Roots() *x509.CertPool { return b.pool }

// Len counts them.
func (b *Bundle) Len() int { return len(b.seen) }

func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBundle+1))
	if err == nil && len(data) > maxBundle {
		err = errors.New(file + " is too large for a file of certificates")
	}
	return data, err
}
