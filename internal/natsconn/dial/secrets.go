package dial

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/sluicehq/sluice/internal/certs"
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
	_, err := certs.NewKeep(c.TLSCert, c.TLSKey, func() time.Time { return now }, nil)
	return err
}

// checkRoots wants one root that may still sign.
func checkRoots(c natsconn.Config, now time.Time) error {
	if c.TLSCA == "" {
		return nil
	}
	_, err := certs.CurrentRoots(c.TLSCA, now)
	return err
}

// tlsOf is how servers are known, and what they know of us. A certificate that has been
// renewed is used by the next connection. failed is told when it cannot be used then; the
// one before is.
func tlsOf(c natsconn.Config, failed func(error)) (*tls.Config, error) {
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.TLSCA != "" {
		roots, err := certs.Roots(c.TLSCA)
		if err != nil {
			return nil, fmt.Errorf("--nats-tls-ca: %w", err)
		}
		out.RootCAs = certs.PoolWithSystem(roots)
	}
	if c.TLSCert != "" {
		keep, err := certs.NewKeep(c.TLSCert, c.TLSKey, time.Now, failed)
		if err != nil {
			return nil, fmt.Errorf("--nats-tls-cert: %w", err)
		}
		out.GetClientCertificate = keep.GetClientCertificate
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
