package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/certs"
)

// loadTLS reads the files of an Options. The errors name flags, and are all there are.
func loadTLS(ca, cert, key string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	var faults []error
	if ca != "" {
		roots, err := certs.Roots(ca)
		if err != nil {
			faults = append(faults, fmt.Errorf("--ca: %w", err))
		}
		c.RootCAs = certs.Pool(roots)
	}
	switch {
	case cert == "" && key == "":
	case key == "":
		faults = append(faults, errors.New("--cert needs --key, the file of the certificate's private key"))
	case cert == "":
		faults = append(faults, errors.New("--key needs --cert, the file of the key's certificate"))
	default:
		pair, err := readPair(cert, key)
		if err != nil {
			faults = append(faults, err)
		} else {
			c.Certificates = []tls.Certificate{*pair}
		}
	}
	return c, errors.Join(faults...)
}

func readPair(cert, key string) (*tls.Certificate, error) {
	pair, err := certs.Pair(cert, key)
	if err != nil {
		return nil, certs.Retell(err, func(f *certs.Fault) error {
			if f.Key {
				return fmt.Errorf("--key: %w", f)
			}
			return fmt.Errorf("--cert: %w", f)
		})
	}
	if err := certs.Current(pair.Leaf, time.Now()); err != nil {
		return nil, fmt.Errorf("--cert: %s: %w", cert, err)
	}
	return pair, nil
}
