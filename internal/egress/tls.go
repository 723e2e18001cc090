package egress

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
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
// once, Validate's included, with keys that begin with "tls.".
func (t TLS) Load(roots Roots) (*tls.Config, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	if t == (TLS{}) {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if err := errors.Join(t.loadCA(c, roots), t.loadPair(c)); err != nil {
		return nil, err
	}
	return c, nil
}

func (t TLS) loadCA(c *tls.Config, roots Roots) error {
	if t.CA == "" {
		return nil
	}
	bundle, err := read("ca", t.CA)
	if err != nil {
		return err
	}
	if roots == AddToSystem {
		c.RootCAs, err = x509.SystemCertPool()
	}
	if err != nil || c.RootCAs == nil {
		c.RootCAs = x509.NewCertPool() // a system without roots of its own
	}
	if !c.RootCAs.AppendCertsFromPEM(bundle) {
		return fmt.Errorf("failed to read tls.ca '%s': no certificate in PEM", t.CA)
	}
	return nil
}

func (t TLS) loadPair(c *tls.Config) error {
	if t.ClientCert == "" {
		return nil
	}
	cert, certErr := read("client_cert", t.ClientCert)
	key, keyErr := read("client_key", t.ClientKey)
	if err := errors.Join(certErr, keyErr); err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("failed to read tls.client_cert '%s' and tls.client_key '%s': %w", t.ClientCert, t.ClientKey, err)
	}
	c.Certificates = []tls.Certificate{pair}
	return nil
}

func read(key, path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		var fault *os.PathError
		if errors.As(err, &fault) {
			err = fault.Err // the path is in front
		}
		return nil, fmt.Errorf("failed to read tls.%s '%s': %w", key, path, err)
	}
	return data, nil
}
