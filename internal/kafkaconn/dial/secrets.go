package dial

import (
	"crypto/tls"
	"fmt"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/kafkaconn"
)

// Check reads the files that settings name, and reports those that no connection can be
// made with. No error shows what is in them.
func Check(c kafkaconn.Config, now time.Time, fault func(key string, err error)) {
	if c.TLSCert != "" && c.TLSKey != "" {
		if _, err := certs.NewKeep(c.TLSCert, c.TLSKey, func() time.Time { return now }, nil); err != nil {
			fault("--kafka-tls-cert", err)
		}
	}
	if c.TLSCA != "" {
		if _, err := certs.CurrentRoots(c.TLSCA, now); err != nil {
			fault("--kafka-tls-ca", err)
		}
	}
}

// tlsOf is how brokers are known, and what they know of us. A certificate that has been
// renewed is used by the next connection. failed is told when it cannot be used then; the
// one before is.
func tlsOf(c kafkaconn.Config, failed func(error)) (*tls.Config, error) {
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.TLSCA != "" {
		roots, err := certs.Roots(c.TLSCA)
		if err != nil {
			return nil, fmt.Errorf("--kafka-tls-ca: %w", err)
		}
		out.RootCAs = certs.PoolWithSystem(roots)
	}
	if c.TLSCert != "" {
		keep, err := certs.NewKeep(c.TLSCert, c.TLSKey, time.Now, failed)
		if err != nil {
			return nil, fmt.Errorf("--kafka-tls-cert: %w", err)
		}
		out.GetClientCertificate = keep.GetClientCertificate
	}
	return out, nil
}

func itoa(n int32) string { return strconv.Itoa(int(n)) }
