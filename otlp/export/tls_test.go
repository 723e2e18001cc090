package export_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/otlp/export"
	"github.com/sluicehq/sluice/otlp/otlptest"
)

// serve has a receiver serve with TLS over one of the protocols.
func serve(t *testing.T, r *otlptest.Receiver, overHTTP bool, config *tls.Config) (endpoint string) {
	t.Helper()
	l := listen(t)
	if overHTTP {
		r.ServeHTTPOn(tls.NewListener(l, config))
	} else {
		r.ServeGRPCOn(l, config)
	}
	return l.Addr().String()
}

// protocols runs a test over both.
func protocols(t *testing.T, run func(t *testing.T, overHTTP bool)) {
	t.Helper()
	for _, overHTTP := range []bool{false, true} {
		t.Run(fmt.Sprintf("over HTTP %t", overHTTP), func(t *testing.T) { run(t, overHTTP) })
	}
}

func TestTLS(t *testing.T) {
	quiet(t)
	later, past := time.Now().Add(time.Hour), time.Now().Add(-time.Minute)
	ours, other := otlptest.NewAuthority(t, "ours"), otlptest.NewAuthority(t, "other")
	cert, key := ours.Issue("client", later)
	otherCert, otherKey := other.Issue("client", later)
	mutual := func(c *tls.Config, roots *x509.CertPool) *tls.Config {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, roots
		return c
	}
	plain := &tls.Config{}
	for _, tc := range []struct {
		name   string
		server *tls.Config // plain for none
		tls    *export.TLS // nil for none
		want   string      // of the error; "" for none, "*" for any
	}{
		{"its own authority", ours.Server("a", later), &export.TLS{CA: ours.File}, ""},
		{"the roots of the system do not know it", ours.Server("b", later), &export.TLS{}, "certificate signed by unknown authority"},
		{"another authority", ours.Server("c", later), &export.TLS{CA: other.File}, "certificate signed by unknown authority"},
		{"an expired certificate", ours.Server("d", past), &export.TLS{CA: ours.File}, "certificate has expired"},
		{"the name that is asked for", ours.Server("collector.example", later), &export.TLS{CA: ours.File, Domain: "collector.example"}, ""},
		{"another name", ours.Server("collector.example", later), &export.TLS{CA: ours.File, Domain: "else.example"}, "not else.example"},
		{"a client certificate", mutual(ours.Server("e", later), ours.Pool), &export.TLS{CA: ours.File, Cert: cert, Key: key}, ""},
		{"no client certificate", mutual(ours.Server("f", later), ours.Pool), &export.TLS{CA: ours.File}, "*"},
		{"one that the server does not know", mutual(ours.Server("g", later), ours.Pool), &export.TLS{CA: ours.File, Cert: otherCert, Key: otherKey}, "*"},
		{"TLS to a server without", plain, &export.TLS{CA: ours.File}, "*"},
		{"no TLS to a server with it", ours.Server("h", later), nil, "*"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			protocols(t, func(t *testing.T, overHTTP bool) {
				t.Helper()
				receiver := otlptest.New(t)
				var endpoint string
				if tc.server == plain {
					l := listen(t)
					endpoint = l.Addr().String()
					if overHTTP {
						receiver.ServeHTTPOn(l)
					} else {
						receiver.ServeGRPCOn(l, nil)
					}
				} else {
					endpoint = serve(t, receiver, overHTTP, tc.server)
				}
				c := client(t, export.Options{Endpoint: endpoint, HTTP: overHTTP, TLS: tc.tls})
				err := c.Send(t.Context(), request("x"))
				if tc.want == "*" {
					if err == nil || len(receiver.Bodies()) != 0 {
						t.Errorf("got no error, want one")
					}
					return
				}
				check(t, err, want{text: tc.want})
				if n := len(receiver.Bodies()); (n == 1) != (tc.want == "") {
					t.Errorf("%d records arrived", n)
				}
			})
		})
	}
}

// quiet keeps the servers' words about handshakes that are meant to fail out of the test's.
func quiet(t *testing.T) {
	t.Helper()
	log.SetOutput(new(strings.Builder))
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
}

func TestTheServerCanChangeItsCertificate(t *testing.T) {
	protocols(t, func(t *testing.T, overHTTP bool) {
		t.Helper()
		quiet(t)
		later := time.Now().Add(time.Hour)
		ours, other := otlptest.NewAuthority(t, "ours"), otlptest.NewAuthority(t, "other")
		var now atomic.Pointer[tls.Config]
		now.Store(ours.Server("first", later))
		config := now.Load().Clone()
		config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return now.Load(), nil }
		receiver, l := otlptest.New(t), listen(t)
		network := otlptest.NewNetwork(func() (net.Conn, net.Conn) { return pair(t) })
		_ = l.Close()
		if overHTTP {
			receiver.ServeHTTPOn(tls.NewListener(network, config))
		} else {
			receiver.ServeGRPCOn(network, config)
		}
		c := client(t, export.Options{Endpoint: "first:1", HTTP: overHTTP, TLS: &export.TLS{CA: ours.File}, Dial: network.Dial})
		check(t, c.Send(t.Context(), request("1")), want{})

		now.Store(ours.Server("first", later)) // renewed: who is connected notices nothing
		check(t, c.Send(t.Context(), request("2")), want{})
		network.Cut()()
		check(t, eventually(func() error { return c.Send(t.Context(), request("3")) }), want{})

		now.Store(other.Server("first", later)) // somebody else's
		network.Cut()()
		check(t, eventuallyFails(func() error { return c.Send(t.Context(), request("4")) }), want{text: "certificate signed by unknown authority"})

		now.Store(ours.Server("first", later))
		check(t, c.Send(t.Context(), request("5")), want{})
		if got := fmt.Sprint(receiver.Bodies()); got != "[1 2 3 5]" {
			t.Errorf("arrived %s, want [1 2 3 5]", got)
		}
	})
}

// eventually tries again what fails because a connection that was cut was used once more.
func eventually(try func() error) (err error) {
	for range 10 {
		if err = try(); err == nil {
			return nil
		}
	}
	return err
}

// eventuallyFails returns the first error that is about a certificate, or the last one.
func eventuallyFails(try func() error) (err error) {
	for range 10 {
		if err = try(); err != nil && strings.Contains(err.Error(), "certificate") {
			return err
		}
	}
	return err
}

// pair returns the ends of a TCP connection.
func pair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l := listen(t)
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Error(err)
		return net.Pipe()
	}
	if far, err = l.Accept(); err != nil {
		t.Error(err)
		return net.Pipe()
	}
	return near, far
}

func TestTheClientCanChangeItsCertificate(t *testing.T) {
	protocols(t, func(t *testing.T, overHTTP bool) {
		t.Helper()
		quiet(t)
		later := time.Now().Add(time.Hour)
		ours, other := otlptest.NewAuthority(t, "ours"), otlptest.NewAuthority(t, "other")
		cert, key := other.Issue("client", later)
		config := ours.Server("server", later)
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, ours.Pool
		receiver := otlptest.New(t)
		c := client(t, export.Options{Endpoint: serve(t, receiver, overHTTP, config), HTTP: overHTTP, TLS: &export.TLS{CA: ours.File, Cert: cert, Key: key}})
		if err := c.Send(t.Context(), request("1")); err == nil {
			t.Error("a stranger was let in")
		}
		newCert, newKey := ours.Issue("client", later)
		for from, to := range map[string]string{newCert: cert, newKey: key} {
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Reload(); err != nil {
			t.Fatal(err)
		}
		check(t, c.Send(t.Context(), request("2")), want{})
		if err := os.Remove(key); err != nil {
			t.Fatal(err)
		}
		if err := c.Reload(); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("got %v, want an error that names the key", err)
		}
		check(t, c.Send(t.Context(), request("3")), want{}) // with what it has
		if got := fmt.Sprint(receiver.Bodies()); got != "[2 3]" {
			t.Errorf("arrived %s, want [2 3]", got)
		}
	})
}

func TestFilesOfTLS(t *testing.T) {
	later := time.Now().Add(time.Hour)
	ours := otlptest.NewAuthority(t, "ours")
	cert, key := ours.Issue("client", later)
	_, otherKey := ours.Issue("another", later)
	expired, expiredKey := ours.Issue("expired", time.Now().Add(-time.Minute))
	early := filepath.Join(t.TempDir(), "early.pem")
	earlyKey := early + ".key"
	certstest.New(t, "early").Date("early", time.Hour, 2*time.Hour, early, earlyKey)
	garbage := filepath.Join(t.TempDir(), "garbage.pem")
	if err := os.WriteFile(garbage, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		tls  export.TLS
		want string
	}{
		{"none at all", export.TLS{}, ""},
		{"all of them", export.TLS{CA: ours.File, Cert: cert, Key: key, Domain: "x"}, ""},
		{"a bundle that is not there", export.TLS{CA: garbage + "x"}, "ca: " + garbage + "x: no such file"},
		{"a bundle that holds none", export.TLS{CA: garbage}, "ca: " + garbage + ": the file holds nothing in PEM"},
		{"a certificate alone", export.TLS{Cert: cert}, "client_cert and client_key must be set together"},
		{"a key alone", export.TLS{Key: key}, "client_cert and client_key must be set together"},
		{"a certificate that is none", export.TLS{Cert: garbage, Key: key}, "client_cert with client_key: " + garbage},
		{"a key that is not there", export.TLS{Cert: cert, Key: key + "x"}, "no such file"},
		{"another one's key", export.TLS{Cert: cert, Key: otherKey}, "private key does not match public key"},
		{"a certificate that has expired", export.TLS{Cert: expired, Key: expiredKey}, "client_cert with client_key: " + expired + ": the certificate expired at "},
		{"a certificate of tomorrow", export.TLS{Cert: early, Key: earlyKey}, "client_cert with client_key: " + early + ": the certificate is not valid before "},
	} {
		_, err := tc.tls.Load(time.Now, nil)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
		if _, again := export.New(export.Options{Endpoint: "x:1", TLS: &tc.tls, Now: time.Now, HTTP: true}); (again == nil) != (err == nil) {
			t.Errorf("%s: a client is made with %v, its files are loaded with %v", tc.name, again, err)
		}
	}
}
