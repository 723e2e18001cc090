package export

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"
)

// TLS says how a receiver is verified, and how the client shows itself. The zero value
// verifies by the roots of the system.
type TLS struct {
	CA     string // file of the only roots that count; "" for those of the system
	Cert   string // file of the client's certificate, "" for none
	Key    string // file of its key
	Domain string // the name that is sent and verified; "" for that of the endpoint
}

// Load reads the files.
func (t *TLS) Load(now time.Time) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.Domain}
	if t.CA != "" {
		bundle, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(bundle) {
			return nil, fmt.Errorf("ca: %s holds no certificate in PEM form", t.CA)
		}
	}
	if t.Cert == "" && t.Key == "" {
		return c, nil
	}
	if t.Cert == "" || t.Key == "" {
		return nil, errors.New("client_cert and client_key must be set together for mutual TLS")
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("client_cert %s with client_key %s: %w", t.Cert, t.Key, err)
	}
	if end := pair.Leaf.NotAfter; now.After(end) {
		return nil, fmt.Errorf("client_cert: %s expired at %s; renew it", t.Cert, end.UTC().Format(time.RFC3339))
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}
