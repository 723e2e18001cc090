package egress

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/certs"
)

// TLS is a section named tls, with the files of a connection's certificates.
type TLS struct {
	// CA is a bundle of certificates, in PEM, that servers are verified against.
	CA string `yaml:"ca"`
	// ClientCert and ClientKey are the certificate, with its chain, and the key that the
	// client shows to servers that ask for one.
	ClientCert string `yaml:"client_cert"`
	ClientKey  string `yaml:"client_key"`
}

// Roots says what the certificates of TLS.CA are for.
type Roots uint8

// The uses of TLS.CA.
const (
	AddToSystem Roots = iota // beside the system roots
	OnlyBundle               // instead of the system roots
)

// Validate reports settings that do not go together. It reads no file.
func (t TLS) Validate() error {
	if (t.ClientCert == "") != (t.ClientKey == "") {
		return errors.New("tls.client_cert and tls.client_key must be set together for mutual TLS")
	}
	return nil
}

// Load reads the files. It returns nil if t is empty. The error tells every fault at
// once, Validate's included, with keys that begin with "tls.". failed is told of a renewed
// certificate that cannot be used at a handshake, where the one before is; nil tells nobody.
func (t TLS) Load(roots Roots, now func() time.Time, failed func(error)) (*tls.Config, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	if t == (TLS{}) {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if err := errors.Join(t.loadCA(c, roots), t.loadPair(c, now, failed)); err != nil {
		return nil, err
	}
	return c, nil
}

func (t TLS) loadCA(c *tls.Config, roots Roots) error {
	if t.CA == "" {
		return nil
	}
	bundle, err := certs.Roots(t.CA)
	if err != nil {
		return told("ca", err)
	}
	if c.RootCAs = certs.Pool(bundle); roots == AddToSystem {
		c.RootCAs = certs.PoolWithSystem(bundle)
	}
	return nil
}

// loadPair has each handshake show what the files hold then.
func (t TLS) loadPair(c *tls.Config, now func() time.Time, failed func(error)) error {
	if t.ClientCert == "" {
		return nil
	}
	keep, err := certs.NewKeep(t.ClientCert, t.ClientKey, now, failed)
	if err != nil {
		return told("client_cert", err)
	}
	c.GetClientCertificate = keep.GetClientCertificate
	return nil
}

// told tells errors by the setting that names the file.
func told(setting string, err error) error {
	return certs.Retell(err, func(f *certs.Fault) error {
		key := setting
		if f.Key {
			key = "client_key"
		}
		if f.Dated {
			return fmt.Errorf("tls.%s: %w", key, f)
		}
		return &readError{fmt.Sprintf("failed to read tls.%s '%s': %s", key, f.Path, f.What), f}
	})
}

type readError struct {
	text  string
	cause error
}

func (e *readError) Error() string { return e.text }
func (e *readError) Unwrap() error { return e.cause }
