package trialcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func newSet(t *testing.T, hosts ...string) *Set {
	t.Helper()
	s, err := New(hosts, noon, 30*24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// leaf reads a certificate with its key, which must belong to it.
func leaf(t *testing.T, cert, key []byte) *x509.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	if k, ok := pair.PrivateKey.(*ecdsa.PrivateKey); !ok || k.Curve != elliptic.P256() {
		t.Errorf("the key is %T, want one of ECDSA on P-256", pair.PrivateKey)
	}
	return pair.Leaf
}

func TestEachCertificateIsForItsOwnUse(t *testing.T) {
	s, other := newSet(t, "localhost", "127.0.0.1", "::1", "*.example.com"), newSet(t, "localhost")
	server, client := leaf(t, s.ServerCert, s.ServerKey), leaf(t, s.ClientCert, s.ClientKey)
	for _, tc := range []struct {
		name  string
		cert  *x509.Certificate
		roots []byte
		host  string
		use   x509.ExtKeyUsage
		at    time.Time
		valid bool
	}{
		{"the server by name", server, s.CA, "localhost", x509.ExtKeyUsageServerAuth, noon, true},
		{"the server by address", server, s.CA, "127.0.0.1", x509.ExtKeyUsageServerAuth, noon, true},
		{"the server by an address of IPv6", server, s.CA, "::1", x509.ExtKeyUsageServerAuth, noon, true},
		{"the server by a wildcard", server, s.CA, "a.example.com", x509.ExtKeyUsageServerAuth, noon, true},
		{"the server by another name", server, s.CA, "db.example", x509.ExtKeyUsageServerAuth, noon, false},
		{"the server as a client", server, s.CA, "", x509.ExtKeyUsageClientAuth, noon, false},
		{"the client", client, s.CA, "", x509.ExtKeyUsageClientAuth, noon, true},
		{"the client as a server", client, s.CA, "", x509.ExtKeyUsageServerAuth, noon, false},
		{"another authority", server, other.CA, "localhost", x509.ExtKeyUsageServerAuth, noon, false},
		{"a clock that is behind", server, s.CA, "localhost", x509.ExtKeyUsageServerAuth, noon.Add(-59 * time.Minute), true},
		{"the last moment", server, s.CA, "localhost", x509.ExtKeyUsageServerAuth, noon.Add(30 * 24 * time.Hour), true},
		{"behind it", server, s.CA, "localhost", x509.ExtKeyUsageServerAuth, noon.Add(30*24*time.Hour + time.Second), false},
	} {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(tc.roots)
		_, err := tc.cert.Verify(x509.VerifyOptions{DNSName: tc.host, Roots: roots, KeyUsages: []x509.ExtKeyUsage{tc.use}, CurrentTime: tc.at})
		if (err == nil) != tc.valid {
			t.Errorf("%s: got %v, want it valid: %v", tc.name, err, tc.valid)
		}
	}
	if got, want := s.Names, []string{"localhost", "127.0.0.1", "::1", "*.example.com"}; !slices.Equal(got, want) || !s.End.Equal(noon.Add(30*24*time.Hour)) {
		t.Errorf("got %q until %s, want %q", got, s.End, want)
	}
}

// Whoever still has the certificate of an authority from before learns that it is another
// one, and not that a signature is wrong.
func TestAuthoritiesNeverShareAName(t *testing.T) {
	a, b := newSet(t, "localhost"), newSet(t, "localhost")
	if x, y := leaf(t, a.ServerCert, a.ServerKey).Issuer.CommonName, leaf(t, b.ServerCert, b.ServerKey).Issuer.CommonName; x == y {
		t.Errorf("both are %s", x)
	}
}

func TestHosts(t *testing.T) {
	for _, tc := range []struct{ text, want, fault string }{
		{"localhost", "localhost", ""},
		{"Sluice.Example.COM", "sluice.example.com", ""},
		{"sluice.example.com.", "sluice.example.com", ""},
		{"*.example.com", "*.example.com", ""},
		{"_sluice.example", "_sluice.example", ""},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", ""},
		{"10.0.0.5", "10.0.0.5", ""},
		{"::ffff:10.0.0.5", "10.0.0.5", ""},
		{"2001:DB8:0::1", "2001:db8::1", ""},
		{"[::1]", "::1", ""},
		{"", "", "the name is empty"},
		{"localhost:9090", "", `"localhost:9090" has a port, which a certificate does not know; write localhost`},
		{"[::1]:9090", "", `"[::1]:9090" has a port, which a certificate does not know; write ::1`},
		{"https://localhost", "", `"https://localhost" is a URL; write the host alone`},
		{"fe80::1%eth0", "", `"fe80::1%eth0": a certificate has no zones; write the address without %eth0`},
		{"10.0.0.256", "", `"10.0.0.256" is no host name and no IP address`},
		{"1234", "", `"1234" is no host name and no IP address`},
		{"a b", "", `"a b" is no host name and no IP address`},
		{"a..b", "", `"a..b" is no host name and no IP address`},
		{"-a.example", "", `"-a.example" is no host name and no IP address`},
		{"a.*.example", "", `"a.*.example" is no host name and no IP address`},
		{"*", "", `"*" is no host name and no IP address`},
		{"a\nb", "", `"a\nb" is no host name and no IP address`},
		{"bücher.example", "", `"bücher.example" is no host name: write an international name as DNS has it (xn--...)`},
		{strings.Repeat("a", 64), "", `"` + strings.Repeat("a", 64) + `" is no host name and no IP address`},
		{strings.Repeat("a.", 127) + "a", "", `"` + strings.Repeat("a.", 127) + `a" is no host name and no IP address`},
	} {
		got, err := ParseHost(tc.text)
		fault := ""
		if err != nil {
			fault = err.Error()
		}
		if got != tc.want || fault != tc.fault {
			t.Errorf("%q: got %q, %q, want %q, %q", tc.text, got, fault, tc.want, tc.fault)
		}
		if err != nil {
			if _, err := New([]string{tc.text}, noon, time.Hour); err == nil {
				t.Errorf("%q: a certificate was made", tc.text)
			}
		}
	}
}

// modes lists the files of a directory with their modes.
func modes(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		info, err := os.Lstat(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Name()+" "+info.Mode().String())
	}
	return strings.Join(all, ", ")
}

const written = "ca.pem -rw-r--r--, client-key.pem -rw-------, client.pem -rw-r--r--, server-key.pem -rw-------, server.pem -rw-r--r--"

func TestKeysAreForTheirOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := newSet(t, "localhost")
	if err := s.Write(dir, false); err != nil {
		t.Fatal(err)
	}
	if got := modes(t, dir); got != written {
		t.Errorf("got %s, want %s", got, written)
	}
	// The key of the authority is nowhere.
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	ca := certificate(t, s.CA)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tls.X509KeyPair(s.CA, text); err == nil || !ca.IsCA || !ca.MaxPathLenZero {
			t.Errorf("%s is the key of the authority: %v", name, err)
		}
	}
}

func certificate(t *testing.T, text []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(text)
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNothingIsOverwrittenUnlessForced(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("server-key.pem"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(kept, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, in("client-key.pem")); err != nil {
		t.Fatal(err)
	}
	s := newSet(t, "localhost")
	err := s.Write(dir, false)
	if want := in("server-key.pem") + ", " + in("client-key.pem") + ": exists already"; !errors.Is(err, ErrExist) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if got, want := modes(t, dir), "client-key.pem Lrwxrwxrwx, server-key.pem -rw-r--r--"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := s.Write(dir, true); err != nil {
		t.Fatal(err)
	}
	if got := modes(t, dir); got != written {
		t.Errorf("forced: got %s, want %s", got, written)
	}
	if text, err := os.ReadFile(kept); err != nil || string(text) != "kept" {
		t.Errorf("what a link led to has %q, %v", text, err)
	}
	if text, err := os.ReadFile(in("server-key.pem")); err != nil || string(text) != string(s.ServerKey) {
		t.Errorf("the key has %q, %v", text, err)
	}
}

func TestWhereNothingCanBeWrittenNothingIs(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSet(t, "localhost")
	for _, force := range []bool{false, true} {
		var fault *fs.PathError
		if err := s.Write(file, force); !errors.As(err, &fault) || !strings.HasPrefix(fault.Path, file) {
			t.Errorf("a file in place of the directory: got %v", err)
		}
	}
	// A directory in the place of a file stays, and so does nothing else.
	blocked := filepath.Join(dir, "blocked")
	if err := os.MkdirAll(filepath.Join(blocked, "ca.pem", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(blocked, true); err == nil {
		t.Error("a directory was replaced")
	}
	if got, want := modes(t, blocked), "ca.pem drwx------"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
