package export

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/certs"
)

// TLS says how a receiver is verified, and how the client shows itself. The zero value
// verifies by the roots of the system.
type TLS struct {
	CA     string // file of the only roots that count; "" for those of the system
	Cert   string // file of the client's certificate, "" for none
	Key    string // file of its key
	Domain string // the name that is sent and verified; "" for that of the endpoint
}

// Load reads the files. failed is told of a renewed certificate that cannot be used at a
// handshake; nil tells nobody.
func (t *TLS) Load(now func() time.Time, failed func(error)) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.Domain}
	if t.CA != "" {
		roots, err := certs.Roots(t.CA)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		c.RootCAs = certs.Pool(roots)
	}
	if t.Cert == "" && t.Key == "" {
		return c, nil
	}
	if t.Cert == "" || t.Key == "" {
		return nil, errors.New("client_cert and client_key must be set together for mutual TLS")
	}
	keep, err := certs.NewKeep(t.Cert, t.Key, now, failed)
	if err != nil {
		return nil, fmt.Errorf("client_cert with client_key: %w", err)
	}
	c.GetClientCertificate = keep.GetClientCertificate
	return c, nil
}
