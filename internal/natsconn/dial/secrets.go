package dial

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/sluicehq/sluice/internal/natsconn"
)

// Check reads the files and seeds that settings name, and reports those that no
// connection can be made with. No error shows what is in them.
func Check(c natsconn.Config, now time.Time, fault func(key string, err error)) {
	for _, part := range []struct {
		flag  string
		check func() error
	}{
		{"--nats-creds", func() error { return checkCreds(c) }},
		{"--nats-nkey", func() error { return checkNKey(c) }},
		{"--nats-tls-cert", func() error { return checkCertificate(c, now) }},
		{"--nats-tls-ca", func() error { return checkRoots(c, now) }},
	} {
		if err := part.check(); err != nil {
			fault(part.flag, err)
		}
	}
}

func checkCreds(c natsconn.Config) error {
	if c.Creds == "" {
		return nil
	}
	text, err := os.ReadFile(c.Creds)
	if err != nil {
		return err
	}
	defer clear(text)
	if jwt, err := nkeys.ParseDecoratedJWT(text); err != nil || strings.Count(jwt, ".") != 2 {
		return fmt.Errorf("%s holds no user JWT", c.Creds)
	}
	pair, err := nkeys.ParseDecoratedUserNKey(text)
	if err != nil {
		return fmt.Errorf("%s holds no NKey seed of a user", c.Creds)
	}
	pair.Wipe()
	return nil
}

func checkNKey(c natsconn.Config) error {
	if c.NKey == "" {
		return nil
	}
	prefix, raw, err := nkeys.DecodeSeed([]byte(c.NKey))
	if err != nil || prefix != nkeys.PrefixByteUser {
		return errors.New("is no NKey seed of a user: those begin with SU")
	}
	clear(raw)
	return nil
}

func checkCertificate(c natsconn.Config, now time.Time) error {
	if c.TLSCert == "" || c.TLSKey == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return fmt.Errorf("read the client certificate: %w", err)
	}
	if err := current(pair.Leaf, now); err != nil {
		return fmt.Errorf("%s: %w", c.TLSCert, err)
	}
	return nil
}

// current reports a certificate of another time.
func current(leaf *x509.Certificate, now time.Time) error {
	switch {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("the certificate expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("the certificate is not valid before %s", leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// checkRoots wants one root that may still sign.
func checkRoots(c natsconn.Config, now time.Time) error {
	if c.TLSCA == "" {
		return nil
	}
	roots, err := readRoots(c.TLSCA)
	if err != nil {
		return err
	}
	for _, root := range roots {
		if err = current(root, now); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", c.TLSCA, err)
}

// tlsOf is how servers are known, and what they know of us. The certificate is read
// again for each handshake, so that a renewed one is used by the next connection.
func tlsOf(c natsconn.Config) (*tls.Config, error) {
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.TLSCA != "" {
		roots, err := readRoots(c.TLSCA)
		if err != nil {
			return nil, fmt.Errorf("--nats-tls-ca: %w", err)
		}
		if out.RootCAs, err = x509.SystemCertPool(); err != nil {
			out.RootCAs = x509.NewCertPool() // a system without roots
		}
		for _, root := range roots {
			out.RootCAs.AddCert(root)
		}
	}
	if c.TLSCert != "" {
		out.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
			if err != nil {
				return nil, fmt.Errorf("read the client certificate: %w", err)
			}
			return &pair, nil
		}
	}
	return out, nil
}

// login sets the one method that is configured.
func login(c natsconn.Config, o *nats.Options) error {
	switch {
	case c.Creds != "":
		return nats.UserCredentials(c.Creds)(o)
	case c.NKey != "":
		pair, err := nkeys.FromSeed([]byte(c.NKey))
		if err != nil {
			return errors.New("--nats-nkey is no NKey seed")
		}
		public, err := pair.PublicKey()
		if err != nil {
			return errors.New("--nats-nkey is no NKey seed")
		}
		return nats.Nkey(public, pair.Sign)(o)
	case c.Token != "":
		o.Token = c.Token
	case c.User != "":
		o.User, o.Password = c.User, c.Password
	}
	return nil
}
