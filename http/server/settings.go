//go:build !no_tls

package server

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/internal/certs"
)

// TLS names the files of the API's certificate.
type TLS struct {
	Cert           string `yaml:"cert" flag:"tls-cert" help:"Certificate of the API, in PEM, those that lead to a root behind it"`
	Key            string `yaml:"key" flag:"tls-key" help:"Key of the certificate, in PEM, not encrypted"`
	KeyPassword    string `yaml:"-" flag:"tls-key-password" env:"SLUICE_TLS_KEY_PASSWORD" help:"Refused: encrypted keys are not supported"`
	ClientCA       string `yaml:"client_ca" flag:"tls-client-ca" help:"Roots that client certificates must lead to; every client then needs one"`
	MinVersion     string `yaml:"min_version" flag:"tls-min-version" help:"Oldest TLS version (1.2, 1.3)"`
	AllowPlaintext bool   `yaml:"allow_plaintext" flag:"allow-plaintext" help:"Serve plaintext on an address that is not loopback"`
}

// validate reports files of a certificate that do not belong together.
func (t TLS) validate(fault func(key string, err error)) {
	switch {
	case (t.Cert == "") != (t.Key == ""):
		fault("cert", errors.New("a certificate and its key belong together (--tls-cert, --tls-key)"))
	case t.ClientCA != "" && t.Cert == "":
		fault("client_ca", errors.New("needs a certificate (--tls-cert, --tls-key)"))
	}
	if t.KeyPassword != "" {
		key := t.Key
		if key == "" {
			key = "encrypted.key"
		}
		fault("--tls-key-password", fmt.Errorf("%w: leave this setting away and %s", certs.ErrEncrypted, certs.Decrypt(key)))
	}
	if _, err := t.Version(); err != nil {
		fault("min_version", err)
	}
}

// allowsPlaintext reports whether an address that is not loopback may do without TLS.
func (t TLS) allowsPlaintext() bool { return t.AllowPlaintext }

// Version returns the plain form of the oldest TLS version: "1.2" or "1.3".
func (t TLS) Version() (string, error) {
	plain := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(t.MinVersion), "tls"), "v")
	if plain != "1.2" && plain != "1.3" {
		return "", fmt.Errorf("%q is not allowed (1.2, 1.3)", t.MinVersion)
	}
	return plain, nil
}

// On reports whether any of the files is named.
func (t TLS) On() bool { return t.Cert != "" || t.Key != "" || t.ClientCA != "" }
