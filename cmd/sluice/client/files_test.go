package client

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/trialcert"
)

const encryptedKey = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHjME4GCSqGSIb3DQEFDTBBMCkGCSqGSIb3DQEFDDAcBAhmdXR1cmVzIQICCAAw
-----END ENCRYPTED PRIVATE KEY-----
`

const encryptedOldKey = `-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,00000000000000000000000000000000

MIHjME4GCSqGSIb3DQEFDTBBMCkGCSqGSIb3DQEFDDAcBAhmdXR1cmVzIQICCAAw
-----END EC PRIVATE KEY-----
`

func TestFaultsOfFilesNameTheFlagAndThePath(t *testing.T) {
	own, other := files(t, issue(t, time.Now(), "localhost")), files(t, issue(t, time.Now(), "localhost"))
	past := time.Now().Add(-48 * time.Hour)
	old := files(t, issue(t, past, "localhost"))
	ca, cert, key := own(trialcert.CAFile), own(trialcert.ClientCertFile), own(trialcert.ClientKeyFile)
	dir := t.TempDir()
	none, empty, text := dir+"/none", write(t, "empty", ""), write(t, "text", "no PEM\n")
	der, secret, secretOld := write(t, "der", "\x30\x82\x01"), write(t, "secret", encryptedKey), write(t, "old", encryptedOldKey)
	broken := write(t, "broken", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
	large := write(t, "large", strings.Repeat("x", fileLimit+1))
	for _, tc := range []struct{ name, addr, ca, cert, key, want string }{
		{"all is well", "localhost:1", ca, cert, key, ""},
		{"a certificate without its key", "localhost:1", "", cert, "", "--cert needs --key, the file of the certificate's private key"},
		{"a key without its certificate", "localhost:1", "", "", key, "--key needs --cert, the file of the key's certificate"},
		{"no such bundle", "localhost:1", none, "", "", "--ca: open " + none + ": no such file or directory"},
		{"a directory", "localhost:1", dir, "", "", "--ca: read " + dir + ": is a directory"},
		{"an empty bundle", "localhost:1", empty, "", "", "--ca: " + empty + " holds no certificate in PEM form: it is empty"},
		{"a bundle of text", "localhost:1", text, "", "", "--ca: " + text + " holds no certificate in PEM form"},
		{"a bundle in the other form", "localhost:1", der, "", "", "--ca: " + der + " holds no certificate in PEM form: it may be in DER form, of which openssl makes PEM"},
		{"a key in place of the bundle", "localhost:1", key, "", "", "--ca: " + key + " holds no certificate in PEM form: it begins with a private key"},
		{"a damaged bundle", "localhost:1", broken, "", "", "--ca: " + broken + " holds no certificate in PEM form: it begins with a certificate"},
		{"a bundle that is no bundle", "localhost:1", large, "", "", "--ca: " + large + " has more than 4194304 bytes"},
		{
			"certificate and key in each other's place", "localhost:1", "", key, cert,
			"--cert: " + key + " holds no certificate in PEM form: it begins with a private key\n--key: " + cert + " holds no private key in PEM form: it begins with a certificate",
		},
		{
			"the key of another certificate", "localhost:1", "", cert, other(trialcert.ClientKeyFile),
			"--cert and --key: " + cert + " and " + other(trialcert.ClientKeyFile) + " do not belong together: private key does not match public key",
		},
		{
			"an encrypted key", "localhost:1", "", cert, secret,
			"--key: " + secret + " is encrypted, which is not supported: openssl pkey -in " + secret + " -out FILE writes it without a password",
		},
		{
			"a key that is encrypted in the old way", "localhost:1", "", cert, secretOld,
			"--key: " + secretOld + " is encrypted, which is not supported: openssl pkey -in " + secretOld + " -out FILE writes it without a password",
		},
		{
			"a certificate that has expired", "localhost:1", "", old(trialcert.ClientCertFile), old(trialcert.ClientKeyFile),
			"--cert: " + old(trialcert.ClientCertFile) + " expired at " + past.Add(24*time.Hour).UTC().Format(time.RFC3339) + ": renew it",
		},
		{
			"all files at once", "localhost:1", none, none, none,
			"--ca: open NONE: no such file or directory\n--cert: open NONE: no such file or directory\n--key: open NONE: no such file or directory",
		},
		{"plaintext", "http://localhost:1", ca, "", "", "--ca, --cert and --key are for https, and http://localhost:1 is not: call the daemon with https://"},
		{
			"a unix socket", "unix:///s", "", cert, key,
			"--ca, --cert and --key are for https, and unix:///s is a unix socket, which has no TLS: leave them out",
		},
	} {
		_, err := New(Options{Addr: tc.addr, Origin: "--addr", CA: tc.ca, Cert: tc.cert, Key: tc.key})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if want := strings.ReplaceAll(tc.want, "NONE", none); got != want {
			t.Errorf("%s: got %s\nwant %s", tc.name, got, want)
		}
	}
}

func TestAFileThatMayNotBeReadIsNamed(t *testing.T) {
	path := write(t, "shut", "x")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(path); err == nil {
		t.Skip("no permission keeps this user from a file")
	}
	_, err := New(Options{Addr: "localhost:1", CA: path})
	if want := "--ca: open " + path + ": permission denied"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
