package certs_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

// files are those of one directory, by name.
type files struct {
	t   *testing.T
	dir string
}

func (f files) path(name string) string { return filepath.Join(f.dir, name) }

func (f files) write(name string, parts ...[]byte) string {
	f.t.Helper()
	certstest.Write(f.t, f.path(name), parts...)
	return f.path(name)
}

func TestFilesOfCertificates(t *testing.T) {
	f := files{t, t.TempDir()}
	ours := certstest.New(t, "ours")
	cert, key := ours.Issue("server", time.Hour)
	_, otherKey := ours.Issue("other", time.Hour)
	certPEM, keyPEM := slurp(t, cert), slurp(t, key)
	ec := certstest.NewKey(t)
	sec1, err := x509.MarshalECPrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	big, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block := certstest.Block
	none := f.path("none.pem")
	garbage := f.write("garbage.pem", []byte("no PEM"))
	empty := f.write("empty.pem", []byte(" \n"))
	half := f.write("half.pem", certPEM[:len(certPEM)/2])
	broken := f.write("broken.pem", block("CERTIFICATE", []byte("x")))
	brokenKey := f.write("broken.key", block("PRIVATE KEY", []byte("x")))
	huge := f.write("huge.pem", make([]byte, 1<<20+1))
	secret := f.write("pkcs8.key", block("ENCRYPTED PRIVATE KEY", []byte("x")))
	old := f.write("old.key", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,00"}, Bytes: []byte("x")}))
	swapped := f.write("swapped.pem", block("CERTIFICATE", ours.Cert.Raw), certPEM)
	const decrypt = ": the key is encrypted, and encrypted keys are not supported; decrypt it with: openssl pkey -in "
	const der = ": the file holds nothing in PEM (openssl x509 -inform DER -in "
	for _, tc := range []struct{ name, cert, key, want string }{
		{"a certificate and its key in PKCS#8", cert, key, ""},
		{"a key in SEC 1", f.write("sec1.pem", block("CERTIFICATE", ours.Sign("x", time.Hour, ec.Public()))), f.write("sec1.key", block("EC PRIVATE KEY", sec1)), ""},
		{"a key in PKCS#1", f.write("rsa.pem", block("CERTIFICATE", ours.Sign("x", time.Hour, big.Public()))), f.write("rsa.key", block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(big))), ""},
		{"a chain", f.write("chain.pem", certPEM, block("CERTIFICATE", ours.Cert.Raw)), key, ""},
		{"text around the blocks", f.write("text.pem", []byte("Subject: x\n"), certPEM, []byte("\nend\n")), key, ""},
		{"both in one file", f.write("both.pem", certPEM, keyPEM), f.path("both.pem"), ""},
		{"parameters before the key", cert, f.write("parameters.key", block("EC PARAMETERS", []byte("x")), keyPEM), ""},
		{"a certificate that is missing", none, key, none + ": no such file or directory"},
		{"a key that is missing", cert, none, none + ": no such file or directory"},
		{"both missing", none, none + "2", none + ": no such file or directory\n" + none + "2: no such file or directory"},
		{"a certificate that is a directory", f.dir, key, f.dir + ": is a directory"},
		{"a certificate that is a device", os.DevNull, key, os.DevNull + ": is no regular file"},
		{"an empty certificate", empty, key, empty + ": the file is empty"},
		{"an empty key", cert, empty, empty + ": the file is empty"},
		{"a certificate without PEM", garbage, key, garbage + der + garbage + " converts a certificate, openssl pkey -inform DER -in " + garbage + " a key)"},
		{"half a certificate", half, key, half + der},
		{"a certificate that cannot be parsed", broken, key, broken + ": certificate 1 cannot be parsed: x509: malformed certificate"},
		{"a file that is too large", huge, key, huge + ": the file is larger than 1048576 bytes, and none of certificates"},
		{"a key in the place of a certificate", key, key, key + ": the file holds no certificate, but: PRIVATE KEY"},
		{"a certificate in the place of a key", cert, cert, cert + ": the file holds no private key, but: CERTIFICATE"},
		{"a key that cannot be parsed", cert, brokenKey, brokenKey + ": the key cannot be parsed (supported: RSA, ECDSA and Ed25519, in PKCS#8, PKCS#1 or SEC 1)"},
		{"an encrypted key in PKCS#8", cert, secret, secret + decrypt + secret + " -out decrypted.key"},
		{"an encrypted key of the old form", cert, old, old + decrypt + old + " -out decrypted.key"},
		{"another certificate's key", cert, otherKey, otherKey + ": is not the key of the certificate " + cert + " (tls: private key does not match public key)"},
		{"a chain in the wrong order", swapped, key, swapped + ": the key " + key + " is that of certificate 2; put that one first, and those that lead to a root behind it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pair, err := certs.Pair(tc.cert, tc.key)
			switch {
			case tc.want == "" && (err != nil || pair.Leaf == nil):
				t.Errorf("got %v, want a certificate", err)
			case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)):
				t.Errorf("got %v, want %s", err, tc.want)
			}
			if got := errors.Is(err, certs.ErrEncrypted); got != strings.Contains(tc.want, "encrypted keys") {
				t.Errorf("encrypted: %t", got)
			}
		})
	}
	t.Run("a key that may not be read", func(t *testing.T) {
		locked := f.write("locked.key", keyPEM)
		if err := os.Chmod(locked, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := os.ReadFile(locked); err == nil {
			t.Skip("this user reads everything")
		}
		want := locked + ": permission denied (the user of the process must be able to read the file)"
		if _, err := certs.Pair(cert, locked); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

// What the message advises works, with the keys that openssl makes.
func TestTheAdviceOnEncryptedKeysWorks(t *testing.T) {
	openssl, dir := sigmatest.Tool(t, "openssl", "openssl"), t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(openssl, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("openssl %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("req", "-x509", "-newkey", "rsa:2048", "-subj", "/CN=x", "-days", "1", "-keyout", "a.key", "-out", "a.crt", "-passout", "pass:secret")
	cert, key := filepath.Join(dir, "a.crt"), filepath.Join(dir, "a.key")
	_, err := certs.Pair(cert, key)
	if !errors.Is(err, certs.ErrEncrypted) {
		t.Fatalf("got %v, want that the key is encrypted", err)
	}
	_, advice, _ := strings.Cut(err.Error(), "decrypt it with: openssl ")
	run(append(strings.Fields(advice), "-passin", "pass:secret")...)
	if _, err := certs.Pair(cert, filepath.Join(dir, "decrypted.key")); err != nil {
		t.Error(err)
	}
	run("x509", "-in", "a.crt", "-outform", "DER", "-out", "a.der")
	run("x509", "-inform", "DER", "-in", "a.der", "-out", "again.crt")
	if _, err := certs.Pair(filepath.Join(dir, "again.crt"), filepath.Join(dir, "decrypted.key")); err != nil {
		t.Error(err)
	}
}

func TestRoots(t *testing.T) {
	f := files{t, t.TempDir()}
	a, b := certstest.New(t, "a"), certstest.New(t, "b")
	both := f.write("both.pem", slurp(t, a.File), slurp(t, b.File))
	if roots, err := certs.Roots(both); err != nil || len(roots) != 2 {
		t.Errorf("got %d roots, %v, want 2", len(roots), err)
	} else if pool := certs.Pool(roots[:1]); !pool.Equal(a.Pool) {
		t.Error("the pool is another one")
	}
	if _, err := certs.CurrentRoots(both, time.Now().AddDate(10, 0, 0)); err == nil || !strings.HasPrefix(err.Error(), both+": the certificate expired at ") {
		t.Errorf("got %v, want that they have expired", err)
	}
	if _, err := certs.CurrentRoots(both, time.Now()); err != nil {
		t.Error(err)
	}
	system, err := x509.SystemCertPool()
	if err != nil {
		t.Skip(err)
	}
	system.AddCert(a.Cert)
	if roots, err := certs.Roots(a.File); err != nil || !certs.PoolWithSystem(roots).Equal(system) {
		t.Errorf("the pool is another one (%v)", err)
	}
}

func TestCertificatesOfAnotherTime(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := &x509.Certificate{NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
	for _, tc := range []struct {
		name string
		at   time.Duration
		want string
	}{
		{"now", 0, ""},
		{"at its end", time.Hour, ""},
		{"behind it", time.Hour + 1, "the certificate expired at 2026-01-02T04:04:05Z; renew it"},
		{"at its beginning", -time.Hour, ""},
		{"before it", -time.Hour - 1, "the certificate is not valid before 2026-01-02T02:04:05Z"},
	} {
		got := ""
		if err := certs.Current(c, now.Add(tc.at)); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestAKeptCertificateFollowsItsFiles(t *testing.T) {
	ours := certstest.New(t, "ours")
	cert, key := ours.Issue("first", time.Hour)
	var failures []string
	now := time.Now()
	keep, err := certs.NewKeep(cert, key, func() time.Time { return now }, func(err error) { failures = append(failures, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, failed int) {
		t.Helper()
		pair, err := keep.GetClientCertificate(nil)
		if err != nil || pair.Leaf.Subject.CommonName != name || len(failures) != failed {
			t.Errorf("got %s, %v and failures %q, want %s and %d", pair.Leaf.Subject.CommonName, err, failures, name, failed)
		}
	}
	check("first", 0)
	ours.Renew("second", time.Hour, cert, key)
	check("second", 0)
	certstest.Write(t, key, []byte("half"))
	check("second", 1)
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	check("second", 2)
	ours.Renew("third", time.Hour, cert, key)
	check("third", 2)
	ours.Date("early", time.Hour, 3*time.Hour, cert, key)
	check("third", 3)
	now = now.Add(2 * time.Hour) // nobody has to touch the files for it
	check("early", 3)
	ours.Renew("expired", -time.Minute, cert, key)
	check("early", 4)
	now = now.Add(2 * time.Hour)
	ours.Renew("fifth", 24*time.Hour, cert, key)
	check("fifth", 4)
	now = now.Add(24 * time.Hour)
	check("fifth", 5) // there is nothing better
	for i, want := range []string{key + ": the file holds nothing in PEM", key + ": no such file", cert + ": the certificate is not valid before", cert + ": the certificate expired", cert + ": the certificate expired"} {
		if !strings.HasPrefix(failures[i], want) {
			t.Errorf("failure %d is %s, want %s", i+1, failures[i], want)
		}
	}
}

func TestOnlyACertificateThatCanBeUsedIsKept(t *testing.T) {
	ours := certstest.New(t, "ours")
	for want, spoil := range ours.Unusable() {
		cert, key := ours.Issue("client", time.Hour)
		spoil(cert, key)
		if _, err := certs.NewKeep(cert, key, time.Now, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func slurp(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
