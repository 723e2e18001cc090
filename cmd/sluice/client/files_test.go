package client

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/trialcert"
)

func TestFaultsOfFilesNameTheFlagAndThePath(t *testing.T) {
	own, other := files(t, issue(t, time.Now(), "localhost")), files(t, issue(t, time.Now(), "localhost"))
	past := time.Now().Add(-48 * time.Hour)
	old := files(t, issue(t, past, "localhost"))
	ca, cert, key := own(trialcert.CAFile), own(trialcert.ClientCertFile), own(trialcert.ClientKeyFile)
	none := t.TempDir() + "/none"
	der := write(t, "der", "\x30\x82\x01")
	for _, tc := range []struct{ name, addr, ca, cert, key, want string }{
		{"all is well", "localhost:1", ca, cert, key, ""},
		{"a certificate without its key", "localhost:1", "", cert, "", "--cert needs --key, the file of the certificate's private key"},
		{"a key without its certificate", "localhost:1", "", "", key, "--key needs --cert, the file of the key's certificate"},
		{"no such bundle", "localhost:1", none, "", "", "--ca: " + none + ": no such file or directory"},
		{
			"a bundle in the other form", "localhost:1", der, "", "",
			"--ca: " + der + ": the file holds nothing in PEM (openssl x509 -inform DER -in " + der + " converts a certificate, openssl pkey -inform DER -in " + der + " a key)",
		},
		{
			"certificate and key in each other's place", "localhost:1", "", key, cert,
			"--cert: " + key + ": the file holds no certificate, but: PRIVATE KEY\n--key: " + cert + ": the file holds no private key, but: CERTIFICATE",
		},
		{"one file for both, and no certificate in it", "localhost:1", "", key, key, "--cert: " + key + ": the file holds no certificate, but: PRIVATE KEY"},
		{
			"the key of another certificate", "localhost:1", "", cert, other(trialcert.ClientKeyFile),
			"--key: " + other(trialcert.ClientKeyFile) + ": is not the key of the certificate " + cert + " (tls: private key does not match public key)",
		},
		{
			"a certificate that has expired", "localhost:1", "", old(trialcert.ClientCertFile), old(trialcert.ClientKeyFile),
			"--cert: " + old(trialcert.ClientCertFile) + ": the certificate expired at " + past.Add(24*time.Hour).UTC().Format(time.RFC3339) + "; renew it",
		},
		{
			"all files at once", "localhost:1", none, none, none + "2",
			"--ca: NONE: no such file or directory\n--cert: NONE: no such file or directory\n--key: NONE2: no such file or directory",
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
