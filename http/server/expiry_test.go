package server

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"log/slog"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/logtest"
)

func TestExpiryIsWarnedOf(t *testing.T) {
	const day = 24 * time.Hour
	ours := certstest.New(t, "ours")
	c := load(t, quiet(), settings(ours.Issue("localhost", 100*day)))
	end := c.leaf().NotAfter
	for _, tc := range []struct {
		name string
		left time.Duration
		want string
	}{
		{"before it begins", 101*day + 1, "the certificate of the API is not valid yet: clients refuse it"},
		{"100 days", 100 * day, ""},
		{"exactly 30 days", 30 * day, ""},
		{"a nanosecond less", 30*day - 1, "the certificate of the API expires in 29 days"},
		{"two days", 2 * day, "the certificate of the API expires in 2 days"},
		{"a day and a bit", day + 1, "the certificate of the API expires in 1 day"},
		{"a moment", 1, "the certificate of the API expires in less than a day"},
		{"its last moment", 0, "the certificate of the API expires in less than a day"},
		{"past", -1, "the certificate of the API has expired: clients refuse it"},
	} {
		log := &logtest.Buffer{}
		c.log = log.Logger(slog.LevelInfo)
		c.Warn(end.Add(-tc.left))
		got := ""
		for _, d := range c.Doubts(end.Add(-tc.left)) {
			got += d.Text
		}
		if got != tc.want || strings.Contains(log.String(), "level=WARN") != (tc.want != "") || !strings.Contains(log.String(), tc.want) {
			t.Errorf("%s: got %q and log %q, want %q", tc.name, got, log.String(), tc.want)
		}
	}
}

// A root is warned of when it is of no use, also beside one that is.
func TestRootsThatAreNotValidAreWarnedOf(t *testing.T) {
	ours := certstest.New(t, "ours")
	now := time.Now()
	root := func(name string, begin, end time.Duration) []byte {
		key := certstest.NewKey(t)
		c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, NotBefore: now.Add(begin), NotAfter: now.Add(end)}
		der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		return certstest.Block("CERTIFICATE", der)
	}
	good, old, early := root("good", -time.Hour, time.Hour), root("old", -2*time.Hour, -time.Hour), root("early", time.Hour, 2*time.Hour)
	for _, tc := range []struct {
		name  string
		roots [][]byte
		want  string
	}{
		{"a good one", [][]byte{good}, ""},
		{"one that has expired", [][]byte{old}, `the root "CN=old" of client certificates has expired: clients that it vouches for are refused`},
		{"one that is not valid yet, beside a good one", [][]byte{good, early}, `the root "CN=early" of client certificates is not valid yet: clients that it vouches for are refused`},
		{"several", [][]byte{early, good, old}, `the root "CN=early" of client certificates is not valid yet: clients that it vouches for are refused; so are those of 1 other root`},
	} {
		o := settings(ours.Issue("localhost", year))
		o.ClientCA = t.TempDir() + "/ca.pem"
		certstest.Write(t, o.ClientCA, tc.roots...)
		log := &logtest.Buffer{}
		c := load(t, log.Logger(slog.LevelInfo), o)
		c.Warn(now)
		got := ""
		for _, d := range c.Doubts(now) {
			got += d.Key + ": " + d.Text
		}
		want := tc.want
		if want != "" {
			want = "client_ca: " + want
		}
		if got != want || strings.Contains(log.String(), "path="+o.ClientCA+" not_") != (want != "") {
			t.Errorf("%s: got %q and log %q, want %q", tc.name, got, log.String(), want)
		}
	}
}
