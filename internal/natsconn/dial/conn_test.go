package dial_test

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/logtest"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/dial"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// connect tries to connect once, and returns what was logged.
func connect(t *testing.T, s *natstest.Server, c natsconn.Config) (logged string, err error) {
	t.Helper()
	var log logtest.Buffer
	d := s.Dialer(c)
	d.Log = slog.New(slog.NewTextHandler(&log, nil))
	url, _, err := natsconn.Address(s.Target(""))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := d.Connect(url, "test", dial.Events{})
	if err == nil {
		if conn.RTT(); conn.Close() != nil {
			t.Error("the connection does not close cleanly")
		}
	}
	return log.String(), err
}

func seed(t *testing.T) (text, public string) {
	t.Helper()
	kp, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := kp.Seed()
	if err != nil {
		t.Fatal(err)
	}
	public, err = kp.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), public
}

func TestEveryWayToLogIn(t *testing.T) {
	rightSeed, public := seed(t)
	wrongSeed, _ := seed(t)
	var creds, foreign string
	foreign = natstest.Accounts(t, &server.Options{})
	for _, tc := range []struct {
		name   string
		change func(o *server.Options)
		right  func() natsconn.Config
		wrong  natsconn.Config
	}{
		{
			"a token", func(o *server.Options) { o.Authorization = "right-secret" },
			func() natsconn.Config { return natsconn.Config{Token: "right-secret"} },
			natsconn.Config{Token: "wrong-secret"},
		},
		{
			"user and password", func(o *server.Options) { o.Username, o.Password = "u", "right-secret" },
			func() natsconn.Config { return natsconn.Config{User: "u", Password: "right-secret"} },
			natsconn.Config{User: "u", Password: "wrong-secret"},
		},
		{
			"a seed", func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: public}} },
			func() natsconn.Config { return natsconn.Config{NKey: rightSeed} },
			natsconn.Config{NKey: wrongSeed},
		},
		{
			"a credentials file", func(o *server.Options) { creds = natstest.Accounts(t, o) },
			func() natsconn.Config { return natsconn.Config{Creds: creds} },
			natsconn.Config{Creds: foreign},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := natstest.Start(t, tc.change)
			logged, err := connect(t, s, tc.right())
			if err != nil || !strings.Contains(logged, "connected") {
				t.Errorf("the right one: got %v, log %s", err, logged)
			}
			for name, c := range map[string]natsconn.Config{"the wrong one": tc.wrong, "none": {}} {
				told, err := connect(t, s, c)
				if err == nil || !strings.Contains(err.Error(), "Authorization Violation") || !strings.Contains(err.Error(), "--nats-creds") {
					t.Errorf("%s: got %v, want a refusal that names the flags", name, err)
				}
				for _, secret := range []string{"secret", rightSeed, wrongSeed} {
					if strings.Contains(logged+told, secret) || err != nil && strings.Contains(err.Error(), secret) {
						t.Errorf("%s: a secret is shown: %v, log %s", name, err, told)
					}
				}
			}
		})
	}
}

func TestHowServersAreKnown(t *testing.T) {
	ca, other := natstest.NewCA(t), natstest.NewCA(t)
	cert, key := ca.Leaf(time.Hour)
	foreignCert, foreignKey := other.Leaf(time.Hour)
	over, overKey := ca.Leaf(-time.Minute)
	withTLS := func(end time.Duration, change func(o *server.Options)) func(o *server.Options) {
		return func(o *server.Options) {
			o.TLS, o.TLSConfig = true, ca.Server(end)
			if change != nil {
				change(o)
			}
		}
	}
	mutual := func(o *server.Options) {
		o.TLSVerify, o.TLSConfig.ClientAuth = true, tls.RequireAndVerifyClientCert
	}
	for _, tc := range []struct {
		name   string
		change func(o *server.Options)
		cfg    natsconn.Config
		err    string // of Connect; empty for none
		logged string
	}{
		{"a server of a CA that is named", withTLS(time.Hour, nil), natsconn.Config{TLSCA: ca.File}, "", "connected"},
		{"and that TLS is required changes nothing", withTLS(time.Hour, nil), natsconn.Config{TLSCA: ca.File, RequireTLS: true}, "", "connected"},
		{"a server of a CA that nobody named", withTLS(time.Hour, nil), natsconn.Config{}, "(--nats-tls-ca names further roots)", ""},
		{"a server of another CA", withTLS(time.Hour, nil), natsconn.Config{TLSCA: other.File}, "(--nats-tls-ca names further roots)", ""},
		{"a server whose certificate has expired", withTLS(-time.Minute, nil), natsconn.Config{TLSCA: ca.File}, "certificate has expired", ""},
		{"a server that knows its clients", withTLS(time.Hour, mutual), natsconn.Config{TLSCA: ca.File, TLSCert: cert, TLSKey: key}, "", "connected"},
		{"without a client certificate", withTLS(time.Hour, mutual), natsconn.Config{TLSCA: ca.File}, "--nats-tls-cert and --nats-tls-key give it", ""},
		{"with one of another CA", withTLS(time.Hour, mutual), natsconn.Config{TLSCA: ca.File, TLSCert: foreignCert, TLSKey: foreignKey}, "tls", ""},
		{"with one that has expired", withTLS(time.Hour, mutual), natsconn.Config{TLSCA: ca.File, TLSCert: over, TLSKey: overKey}, "tls", ""},
		{"a server that offers TLS is spoken to in TLS", withTLS(time.Hour, func(o *server.Options) { o.AllowNonTLS = true }), natsconn.Config{TLSCA: other.File}, "(--nats-tls-ca names further roots)", ""},
		{"a server without TLS", nil, natsconn.Config{}, "", "connected"},
		{"where TLS is required", nil, natsconn.Config{RequireTLS: true}, "the server has no TLS, which --nats-require-tls demands", ""},
		{"where a CA makes one expect TLS", nil, natsconn.Config{TLSCA: ca.File}, "", "the connection is not encrypted (--nats-require-tls refuses such servers)"},
		{"where TLS is required with a CA", nil, natsconn.Config{TLSCA: ca.File, RequireTLS: true}, "the server has no TLS", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := natstest.Start(t, tc.change)
			logged, err := connect(t, s, tc.cfg)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %v, want %q", err, tc.err)
			}
			if !strings.Contains(logged, tc.logged) {
				t.Errorf("logged %s, want %q", logged, tc.logged)
			}
		})
	}
}

func TestFilesAreReadBeforeAnythingIsConnected(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca := natstest.NewCA(t)
	cert, key := ca.Leaf(time.Hour)
	over, overKey := ca.Leaf(-time.Minute)
	_, foreignKey := ca.Leaf(time.Hour)
	early, earlyKey := file("early.pem", ""), file("early.key", "")
	certstest.New(t, "early").Date("early", time.Hour, 2*time.Hour, early, earlyKey)
	userSeed, public := seed(t)
	jwtAlone := "-----BEGIN NATS USER JWT-----\neyJ0.eyJq.c2ln\n------END NATS USER JWT------\n"
	for _, tc := range []struct {
		name string
		cfg  natsconn.Config
		want string // "flag: message"; empty for none
	}{
		{"nothing", natsconn.Config{}, ""},
		{"a credentials file", natsconn.Config{Creds: natstest.Accounts(t, &server.Options{})}, ""},
		{"a credentials file that is missing", natsconn.Config{Creds: filepath.Join(dir, "no.creds")}, "--nats-creds: open " + filepath.Join(dir, "no.creds") + ": no such file or directory"},
		{"a directory for credentials", natsconn.Config{Creds: dir}, "--nats-creds: read " + dir + ": is a directory"},
		{"credentials without JWT", natsconn.Config{Creds: file("a", "hello")}, "--nats-creds: " + filepath.Join(dir, "a") + " holds no user JWT"},
		{"credentials without seed", natsconn.Config{Creds: file("b", jwtAlone)}, "--nats-creds: " + filepath.Join(dir, "b") + " holds no NKey seed of a user"},
		{"a seed", natsconn.Config{NKey: userSeed}, ""},
		{"a public key for a seed", natsconn.Config{NKey: public}, "--nats-nkey: is no NKey seed of a user: those begin with SU"},
		{"a text for a seed", natsconn.Config{NKey: "SUsecret"}, "--nats-nkey: is no NKey seed of a user: those begin with SU"},
		{"a certificate", natsconn.Config{TLSCert: cert, TLSKey: key}, ""},
		{"a certificate that is missing", natsconn.Config{TLSCert: "no.pem", TLSKey: key}, "--nats-tls-cert: no.pem: no such file or directory"},
		{"a key that is missing", natsconn.Config{TLSCert: cert, TLSKey: "no.pem"}, "--nats-tls-cert: no.pem: no such file or directory"},
		{"a key of another certificate", natsconn.Config{TLSCert: cert, TLSKey: foreignKey}, "--nats-tls-cert: " + foreignKey + ": is not the key of the certificate " + cert + " (tls: private key does not match public key)"},
		{"a certificate that has expired", natsconn.Config{TLSCert: over, TLSKey: overKey}, "--nats-tls-cert: " + over + ": the certificate expired at "},
		{"a certificate of tomorrow", natsconn.Config{TLSCert: early, TLSKey: earlyKey}, "--nats-tls-cert: " + early + ": the certificate is not valid before "},
		{"roots", natsconn.Config{TLSCA: ca.File}, ""},
		{"roots that are missing", natsconn.Config{TLSCA: "no.pem"}, "--nats-tls-ca: no.pem: no such file or directory"},
		{"roots that are no certificates", natsconn.Config{TLSCA: file("c", "hello")}, "--nats-tls-ca: " + filepath.Join(dir, "c") + ": the file holds nothing in PEM ("},
		{"a key for roots", natsconn.Config{TLSCA: key}, "--nats-tls-ca: " + key + ": the file holds no certificate, but: PRIVATE KEY"},
		{"roots that have expired", natsconn.Config{TLSCA: over}, "--nats-tls-ca: " + over + ": the certificate expired at "},
	} {
		var got []string
		dial.Check(tc.cfg, time.Now(), func(key string, err error) { got = append(got, key+": "+err.Error()) })
		if text := strings.Join(got, "\n"); tc.want == "" && text != "" || !strings.HasPrefix(text, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, text, tc.want)
		}
	}
}

func TestAConnectionIsMadeAgainForEver(t *testing.T) {
	natstest.Bubbles(t)
	synctest.Test(t, func(t *testing.T) {
		s := natstest.InMemory(t)
		var log logtest.Buffer
		lost := make(chan struct{}, 100)
		d := s.Dialer(natsconn.Config{})
		d.Log = slog.New(slog.NewTextHandler(&log, nil))
		c, err := d.Connect("nats://127.0.0.1:4222", "test", dial.Events{Lost: func() { lost <- struct{}{} }})
		if err != nil {
			t.Fatal(err)
		}
		s.Down()
		time.Sleep(10 * time.Minute)
		if c.Up() || len(lost) != 1 {
			t.Errorf("up %t and lost %d times, want a connection lost once", c.Up(), len(lost))
		}
		s.Up()
		time.Sleep(6 * time.Second) // the longest pause
		if !c.Up() {
			t.Error("the connection is not made again")
		}
		if n := strings.Count(log.String(), "reconnecting failed"); n < 40 || n > 61 {
			t.Errorf("%d records of failed attempts in ten minutes, want one in ten seconds", n)
		}
		for _, want := range []string{"msg=connected", "msg=disconnected", "msg=reconnected", "suppressed="} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log lacks %s", want)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestACloseEndsWhateverTheServerDoes(t *testing.T) {
	for _, tc := range []struct {
		name string
		hold func(s *natstest.Server, c *dial.Conn, p *pipe)
		want string // in the log; empty for nothing of the kind
	}{
		{"with a server that answers", func(*natstest.Server, *dial.Conn, *pipe) {}, ""},
		{"with a server that does not read", func(_ *natstest.Server, c *dial.Conn, p *pipe) {
			p.stop()
			_ = c.Publish("a", []byte("b"))
		}, "closed without an answer of the server"},
		{"without a server", func(s *natstest.Server, _ *dial.Conn, p *pipe) { s.Down(); p.lost() }, ""},
		{"while it is dialling", func(s *natstest.Server, _ *dial.Conn, p *pipe) { p.hang(); s.Down(); p.lost(); p.dialling() }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := natstest.Start(t, nil)
			p := &pipe{server: s, hung: make(chan struct{}, 1), broken: make(chan struct{}, 1)}
			d := s.Dialer(natsconn.Config{})
			var log logtest.Buffer
			d.Dial, d.Log = p.dial, slog.New(slog.NewTextHandler(&log, nil))
			url, _, _ := natsconn.Address(s.Target(""))
			c, err := d.Connect(url, "test", dial.Events{Lost: func() { p.broken <- struct{}{} }})
			if err != nil {
				t.Fatal(err)
			}
			tc.hold(s, c, p)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if told := strings.Contains(log.String(), "without an answer"); told != (tc.want != "") || !strings.Contains(log.String(), tc.want) {
				t.Errorf("the log is %s, want %q in it", log.String(), tc.want)
			}
		})
	}
}

// pipe is a way to a server that can be blocked.
type pipe struct {
	server *natstest.Server
	hung   chan struct{} // somebody dials in vain
	broken chan struct{} // the connection was lost

	mu    sync.Mutex // guards the rest
	conn  *natstest.Deaf
	hangs bool
}

func (p *pipe) lost()     { <-p.broken }
func (p *pipe) dialling() { <-p.hung }

func (p *pipe) dial(ctx context.Context, network, address string) (net.Conn, error) {
	p.mu.Lock()
	hangs := p.hangs
	p.mu.Unlock()
	if hangs {
		p.hung <- struct{}{}
		<-ctx.Done()
		return nil, errors.New("gave up")
	}
	c, err := p.server.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn = natstest.NewDeaf(c)
	return p.conn, nil
}

func (p *pipe) hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hangs = true
}

func (p *pipe) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn.Stop()
}
