package dial_test

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
	"github.com/sluicehq/sluice/internal/logtest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// ask asks for a topic once, and returns what was logged.
func ask(t *testing.T, c *kafkatest.Cluster, cfg kafkaconn.Config) (logged string, err error) {
	t.Helper()
	var log logtest.Buffer
	d := c.Dialer(cfg)
	d.Log = slog.New(slog.NewTextHandler(&log, nil))
	client, err := d.New([]string{c.Broker()}, "test", dial.Events{})
	if err == nil {
		_, err = client.Topic(t.Context(), "events")
		client.Close()
	}
	return log.String(), err
}

func TestEveryWayToLogIn(t *testing.T) {
	const right, wrong = "right-secret", "wrong-secret"
	for mechanism, name := range map[string]string{kafkaconn.Plain: "PLAIN", kafkaconn.ScramSHA256: "SCRAM-SHA-256", kafkaconn.ScramSHA512: "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			c := kafkatest.Start(t, kfake.SeedTopics(1, "events"), kfake.EnableSASL(), kfake.Superuser(name, "u", right))
			logged, err := ask(t, c, kafkaconn.Config{User: "u", Password: right, SASL: mechanism})
			if err != nil || !strings.Contains(logged, "connected") {
				t.Errorf("the right one: got %v, log %s", err, logged)
			}
			if warned := strings.Contains(logged, "the password goes over the wire in clear text"); warned != (mechanism == kafkaconn.Plain) {
				t.Errorf("a warning of the password in clear text: %t", warned)
			}
			for what, cfg := range map[string]kafkaconn.Config{
				"a wrong one": {User: "u", Password: wrong, SASL: mechanism}, "another user": {User: "v", Password: right, SASL: mechanism}, "none": {},
			} {
				told, err := ask(t, c, cfg)
				if err == nil || !strings.Contains(err.Error(), "--kafka-sasl") {
					t.Errorf("%s: got %v, want a refusal that names the flags", what, err)
				}
				for _, secret := range []string{right, wrong} {
					if strings.Contains(logged+told, secret) || err != nil && strings.Contains(err.Error(), secret) {
						t.Errorf("%s: a secret is shown: %v, log %s", what, err, told)
					}
				}
			}
		})
	}
}

func TestHowBrokersAreKnown(t *testing.T) {
	ca, other := certstest.New(t, "ours"), certstest.New(t, "another")
	cert, key := ca.Issue("sluice", time.Hour)
	foreignCert, foreignKey := other.Issue("sluice", time.Hour)
	secure := func(end time.Duration, clients *x509.CertPool) *tls.Config {
		config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{ca.Pair("broker", end)}}
		if clients != nil {
			config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, clients
		}
		return config
	}
	for _, tc := range []struct {
		name   string
		broker *tls.Config
		cfg    kafkaconn.Config
		err    string // empty for none
	}{
		{"a broker of a CA that is named", secure(time.Hour, nil), kafkaconn.Config{TLSCA: ca.File}, ""},
		{"a broker of a CA that nobody named", secure(time.Hour, nil), kafkaconn.Config{TLS: true}, "(--kafka-tls-ca names further roots)"},
		{"a broker of another CA", secure(time.Hour, nil), kafkaconn.Config{TLSCA: other.File}, "(--kafka-tls-ca names further roots)"},
		{"a broker whose certificate has expired", secure(-time.Minute, nil), kafkaconn.Config{TLSCA: ca.File}, "certificate has expired"},
		{"a broker that knows its clients", secure(time.Hour, ca.Pool), kafkaconn.Config{TLSCA: ca.File, TLSCert: cert, TLSKey: key}, ""},
		{"without a client certificate", secure(time.Hour, ca.Pool), kafkaconn.Config{TLSCA: ca.File}, "--kafka-tls-cert"},
		{"with one of another CA", secure(time.Hour, ca.Pool), kafkaconn.Config{TLSCA: ca.File, TLSCert: foreignCert, TLSKey: foreignKey}, "tls"},
		{"a broker with TLS that is spoken to in clear text", secure(time.Hour, nil), kafkaconn.Config{}, "(--kafka-tls)"},
		{"a broker without TLS", nil, kafkaconn.Config{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			options := []kfake.Opt{kfake.SeedTopics(1, "events")}
			if tc.broker != nil {
				options = append(options, kfake.TLS(tc.broker))
			}
			_, err := ask(t, kafkatest.Start(t, options...), tc.cfg)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %v, want %q", err, tc.err)
			}
		})
	}
}

func TestFilesThatNoConnectionCanBeMadeWith(t *testing.T) {
	ca := certstest.New(t, "ours")
	cert, key := ca.Issue("sluice", time.Hour)
	_, another := ca.Issue("sluice", time.Hour)
	over, overKey := ca.Issue("sluice", -time.Minute)
	for _, tc := range []struct {
		name string
		cfg  kafkaconn.Config
		want string // the flag
	}{
		{"none", kafkaconn.Config{}, ""},
		{"good ones", kafkaconn.Config{TLSCA: ca.File, TLSCert: cert, TLSKey: key}, ""},
		{"roots that are missing", kafkaconn.Config{TLSCA: "missing.pem"}, "--kafka-tls-ca"},
		{"a key as roots", kafkaconn.Config{TLSCA: key}, "--kafka-tls-ca"},
		{"the key of another", kafkaconn.Config{TLSCert: cert, TLSKey: another}, "--kafka-tls-cert"},
		{"one that has expired", kafkaconn.Config{TLSCert: over, TLSKey: overKey}, "--kafka-tls-cert"},
	} {
		var got string
		dial.Check(tc.cfg, time.Now(), func(key string, err error) { got = key })
		if got != tc.want {
			t.Errorf("%s: got a fault of %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestWhatUsersMayNotUseIsToldWithWhatMendsIt(t *testing.T) {
	c := kafkatest.Start(t, kfake.SeedTopics(1, "events"), kfake.EnableSASL(), kfake.EnableACLs(),
		kfake.Superuser("SCRAM-SHA-512", "root", "secret"), kfake.User("SCRAM-SHA-512", "u", "secret"))
	client, err := c.Dialer(kafkaconn.Config{User: "u", Password: "secret", SASL: kafkaconn.ScramSHA512}).New([]string{c.Broker()}, "test", dial.Events{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Topic(t.Context(), "events"); err == nil || !strings.Contains(err.Error(), "the user may not use topic events: allow it with an ACL") {
		t.Errorf("the topic: got %v", err)
	}
	if err := client.Group(t.Context(), "g", "events"); err == nil || !strings.Contains(err.Error(), "the user may not join group g: allow it with an ACL") {
		t.Errorf("the group: got %v", err)
	}
}
