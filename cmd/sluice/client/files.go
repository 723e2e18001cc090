package client

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// fileLimit is above every bundle of roots.
const fileLimit = 4 << 20

// loadTLS reads the files of an Options. The errors name flags, and are all there are.
func loadTLS(ca, cert, key string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	var faults []error
	if ca != "" {
		roots, err := readRoots(ca)
		if err != nil {
			faults = append(faults, fmt.Errorf("--ca: %w", err))
		}
		c.RootCAs = roots
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
			c.Certificates = []tls.Certificate{pair}
		}
	}
	return c, errors.Join(faults...)
}

func readRoots(path string) (*x509.CertPool, error) {
	text, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form%s", path, insteadOf(text))
	}
	return roots, nil
}

func readPair(cert, key string) (pair tls.Certificate, err error) {
	certText, certErr := readPEM(cert)
	if certErr == nil && !strings.Contains(string(certText), "-----BEGIN CERTIFICATE-----") {
		certErr = fmt.Errorf("%s holds no certificate in PEM form%s", cert, insteadOf(certText))
	}
	if certErr != nil {
		certErr = fmt.Errorf("--cert: %w", certErr)
	}
	keyText, keyErr := readPEM(key)
	if keyErr == nil {
		keyErr = checkKey(key, keyText)
	}
	if keyErr != nil {
		keyErr = fmt.Errorf("--key: %w", keyErr)
	}
	if err := errors.Join(certErr, keyErr); err != nil {
		return pair, err
	}
	if pair, err = tls.X509KeyPair(certText, keyText); err != nil {
		return pair, fmt.Errorf("--cert and --key: %s and %s do not belong together: %s", cert, key, strings.TrimPrefix(err.Error(), "tls: "))
	}
	if end := pair.Leaf.NotAfter; time.Now().After(end) {
		return pair, fmt.Errorf("--cert: %s expired at %s: renew it", cert, end.UTC().Format(time.RFC3339))
	}
	return pair, nil
}

// checkKey refuses a file without a key that can be used.
func checkKey(path string, text []byte) error {
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return fmt.Errorf("%s holds no private key in PEM form%s", path, insteadOf(text))
		}
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY", strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
			return fmt.Errorf("%s is encrypted, which is not supported: openssl pkey -in %s -out FILE writes it without a password", path, path)
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return nil
		}
	}
}

// insteadOf tells what a file holds that is not what it should hold.
func insteadOf(text []byte) string {
	block, _ := pem.Decode(text)
	switch {
	case len(text) == 0:
		return ": it is empty"
	case block != nil:
		return ": it begins with a " + strings.ToLower(printable(block.Type))
	case text[0] == 0x30: // ASN.1
		return ": it may be in DER form, of which openssl makes PEM"
	}
	return ""
}

func readPEM(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, fileLimit+1))
	if err == nil && len(text) > fileLimit {
		err = fmt.Errorf("%s has more than %d bytes", path, fileLimit)
	}
	return text, err
}
