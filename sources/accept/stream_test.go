package accept

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// secured returns what makes TLS of the two ends of a connection.
func secured(t *testing.T) (server, client func(net.Conn) (net.Conn, error)) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"accept"}, NotAfter: time.Now().Add(1000 * time.Hour), BasicConstraintsValid: true, IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, public, private)
	if err != nil {
		t.Fatal(err)
	}
	if leaf, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	config := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}}, RootCAs: roots, ServerName: "accept", SessionTicketsDisabled: true}
	return func(c net.Conn) (net.Conn, error) {
			s := tls.Server(c, config)
			return s, s.HandshakeContext(t.Context())
		}, func(c net.Conn) (net.Conn, error) {
			s := tls.Client(c, config)
			return s, s.HandshakeContext(t.Context())
		}
}

// However long what has come of a text is, it ends when it pauses too long; and where a
// text has ended, the connection stays.
func TestTextsOfAnyLengthPauseNoLongerThanTheyMay(t *testing.T) {
	lengths := []int{1, aheadBytes - 1, aheadBytes, aheadBytes + 1, 2*aheadBytes - 1, 2 * aheadBytes, 2*aheadBytes + 1}
	for size := 1 << 10; size <= 64<<10; size *= 2 { // chunks, with what else is read of them
		lengths = append(lengths, size-aheadBytes, size-1, size, size+1, size+aheadBytes)
	}
	for _, overTLS := range []bool{false, true} {
		t.Run(fmt.Sprintf("over TLS %t", overTLS), func(t *testing.T) {
			for _, n := range lengths {
				synctest.Test(t, func(t *testing.T) {
					const patience = time.Minute
					p := newPipes()
					var client func(net.Conn) (net.Conn, error)
					r := start(t, p, 100, func(o *Options) {
						if o.Patience = patience; overTLS {
							o.Secure, client = secured(t)
						}
					})
					c := p.connect(t)
					if overTLS {
						s, err := client(c)
						if err != nil {
							t.Fatal(err)
						}
						c = s
					}
					whole, half := strings.Repeat("w", n-1), strings.Repeat("h", n)
					send(t, c, whole+"\n")
					time.Sleep(100 * patience)
					if got := r.in.Lines(); n > 1 && !slices.Equal(got, []string{whole}) {
						t.Errorf("%d bytes: %d lines, want the one that has ended", n, len(got))
					}
					begin := time.Now()
					send(t, c, half)
					if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
						t.Errorf("%d bytes: the client reads %v, want the end", n, err)
					}
					if took := time.Since(begin); took < patience || took > patience+patience/10 {
						t.Errorf("%d bytes: the connection ended after %s, want %s", n, took, patience)
					}
					synctest.Wait()
					if got := r.in.Lines(); len(got) == 0 || got[len(got)-1] != half {
						t.Errorf("%d bytes: the half is missing", n)
					}
				})
			}
		})
	}
}

// What is ready never waits: not behind a read that was full, and not when memory was
// filled exactly.
func TestWhatIsReadyIsThere(t *testing.T) {
	for _, sent := range []int{1, 511, 512, 513, 1024, 4096} {
		for _, size := range []int{1, 511, 512, 513, 1024, 4096, 8192} {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				defer near.Close()
				text := bytes.Repeat([]byte("x"), sent)
				go func() { _, _ = far.Write(text) }()
				a, got, buf := &ahead{Conn: near}, 0, make([]byte, size)
				for got < sent {
					a.wait()
					for a.Ready() {
						begin := time.Now()
						n, err := a.Read(buf)
						if took := time.Since(begin); n == 0 || err != nil || took > moment {
							t.Fatalf("%d bytes into %d: read %d, %v, in %s", sent, size, n, err, took)
						}
						got += n
					}
				}
				if got != sent || a.Ready() {
					t.Errorf("%d bytes into %d: read %d, and more is ready: %t", sent, size, got, a.Ready())
				}
				_ = far.Close()
				if a.wait(); !a.Ready() {
					t.Error("the end is not ready")
				}
				if n, err := a.Read(buf); n != 0 || !errors.Is(err, io.EOF) {
					t.Errorf("read %d, %v, want the end", n, err)
				}
			})
		}
	}
}
