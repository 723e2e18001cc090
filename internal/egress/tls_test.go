package egress

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// refused is the empty part of any error: a server of TLS 1.3 refuses a client after its
// handshake, which shows at one time or another.
const refused = ""

func TestHandshakes(t *testing.T) {
	ours, clients, other := newAuthority(t), newAuthority(t), newAuthority(t)
	hour := time.Now().Add(time.Hour)
	cert, key := clients.pair(t, hour, "daemon")
	strangeCert, strangeKey := other.pair(t, hour, "stranger")
	plain, mutual := secure(t, ours, hour, "tls.example", nil), secure(t, ours, hour, "tls.example", clients)
	expired := secure(t, ours, time.Now().Add(-time.Hour), "tls.example", nil)
	named := secure(t, ours, hour, "other.example", nil)
	resolver := fixed(map[string][]string{"tls.example": {"127.0.0.1"}})
	for _, tc := range []struct {
		name     string
		server   string
		settings TLS
		roots    Roots
		want     string // of the response, or part of the error
	}{
		{"the bundle beside the system roots", port(t, plain), TLS{CA: ours.File}, AddToSystem, "HTTP/2.0 for nobody"},
		{"the bundle instead of the system roots", port(t, plain), TLS{CA: ours.File}, OnlyBundle, "HTTP/2.0 for nobody"},
		{"another bundle", port(t, plain), TLS{CA: other.File}, AddToSystem, "certificate signed by unknown authority"},
		{"the system roots alone", port(t, plain), TLS{}, AddToSystem, "certificate signed by unknown authority"},
		{"a certificate of the client", port(t, mutual), TLS{CA: ours.File, ClientCert: cert, ClientKey: key}, AddToSystem, "HTTP/2.0 for daemon"},
		{"no certificate where one is wanted", port(t, mutual), TLS{CA: ours.File}, AddToSystem, refused},
		{"a certificate of a stranger", port(t, mutual), TLS{CA: ours.File, ClientCert: strangeCert, ClientKey: strangeKey}, AddToSystem, refused},
		{"an expired certificate", port(t, expired), TLS{CA: ours.File}, AddToSystem, "certificate has expired or is not yet valid"},
		{"a certificate for another name", port(t, named), TLS{CA: ours.File}, AddToSystem, "certificate is valid for other.example, not tls.example"},
	} {
		settings, err := tc.settings.Load(tc.roots, time.Now, nil)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		c := client(t, Options{TLS: settings, Resolver: resolver})
		_, body, err := get(t, c, "https://tls.example:"+tc.server+"/")
		if got := body; body != tc.want && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got %q, %v, want %s", tc.name, got, err, tc.want)
		}
	}
}

func TestTheBundleIsAddedToTheSystemRoots(t *testing.T) {
	a := newAuthority(t)
	want, err := x509.SystemCertPool()
	if err != nil {
		t.Fatal(err)
	}
	want.AddCert(a.Cert)
	got, err := TLS{CA: a.File}.Load(AddToSystem, time.Now, nil)
	if err != nil || !got.RootCAs.Equal(want) || got.MinVersion != tls.VersionTLS12 {
		t.Errorf("beside the system roots: got other roots, %v", err)
	}
	alone := x509.NewCertPool()
	alone.AddCert(a.Cert)
	if got, err = (TLS{CA: a.File}).Load(OnlyBundle, time.Now, nil); err != nil || !got.RootCAs.Equal(alone) {
		t.Errorf("alone: got other roots, %v", err)
	}
	if got, err = (TLS{}).Load(OnlyBundle, time.Now, nil); got != nil || err != nil {
		t.Errorf("an empty section: got %v, %v, want nothing", got, err)
	}
}

func TestFaultsOfTheFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := newAuthority(t), newAuthority(t)
	cert, key := a.pair(t, time.Now().Add(time.Hour), "x")
	_, otherKey := b.pair(t, time.Now().Add(time.Hour), "y")
	old := time.Now().Add(-time.Hour).Truncate(time.Second).Add(time.Second / 2) // in the middle of a second, whatever is lost on the way
	oldCert, oldKey := a.pair(t, old, "old")
	none, empty := filepath.Join(dir, "none.pem"), filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	noPEM := func(path string) string {
		return "the file holds nothing in PEM (openssl x509 -inform DER -in " + path + " converts a certificate, openssl pkey -inform DER -in " + path + " a key)"
	}
	const together = "tls.client_cert and tls.client_key must be set together for mutual TLS"
	for _, tc := range []struct {
		name     string
		settings TLS
		want     string
	}{
		{"a certificate without a key", TLS{ClientCert: none}, together},
		{"a key without a certificate", TLS{ClientKey: none}, together},
		{"a bundle that is missing", TLS{CA: none}, "failed to read tls.ca '" + none + "': no such file or directory"},
		{"a bundle that is a directory", TLS{CA: dir}, "failed to read tls.ca '" + dir + "': is a directory"},
		{"a bundle without certificates", TLS{CA: empty}, "failed to read tls.ca '" + empty + "': " + noPEM(empty)},
		{
			"all files are missing",
			TLS{CA: none, ClientCert: none, ClientKey: none},
			"failed to read tls.ca '" + none + "': no such file or directory\nfailed to read tls.client_cert '" + none + "': no such file or directory\nfailed to read tls.client_key '" + none + "': no such file or directory",
		},
		{
			"a key of another certificate",
			TLS{ClientCert: cert, ClientKey: otherKey},
			"failed to read tls.client_key '" + otherKey + "': is not the key of the certificate " + cert + " (tls: private key does not match public key)",
		},
		{
			"a certificate that has expired",
			TLS{ClientCert: oldCert, ClientKey: oldKey},
			"tls.client_cert: " + oldCert + ": the certificate expired at " + old.UTC().Format(time.RFC3339) + "; renew it",
		},
		{
			"a certificate that is none",
			TLS{ClientCert: empty, ClientKey: key},
			"failed to read tls.client_cert '" + empty + "': " + noPEM(empty),
		},
	} {
		if got, err := tc.settings.Load(AddToSystem, time.Now, nil); got != nil || err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, %v, want %s", tc.name, got, err, tc.want)
		}
	}
}
