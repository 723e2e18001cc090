package server

import (
	"errors"
	"fmt"
	"strings"
)

// Config says where the API is served and under which certificate.
type Config struct {
	Addr string `yaml:"addr" flag:"api-addr" help:"Address of the API: IP:port or unix:///path"`
	TLS  TLS    `yaml:"tls"`
}

// TLS names the files of the API's certificate.
type TLS struct {
	Cert           string `yaml:"cert" flag:"tls-cert" help:"Certificate of the API"`
	Key            string `yaml:"key" flag:"tls-key" help:"Key of the certificate"`
	KeyPassword    string `yaml:"-" flag:"tls-key-password" env:"SLUICE_TLS_KEY_PASSWORD" help:"Refused: encrypted keys are not supported"`
	ClientCA       string `yaml:"client_ca" flag:"tls-client-ca" help:"Roots that client certificates must lead to"`
	MinVersion     string `yaml:"min_version" flag:"tls-min-version" help:"Oldest TLS version (1.2, 1.3)"`
	AllowPlaintext bool   `yaml:"allow_plaintext" flag:"allow-plaintext" help:"Serve plaintext on an address that is not loopback"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config { return Config{Addr: "0.0.0.0:9090", TLS: TLS{MinVersion: "1.3"}} }

// Validate reports an address that ParseAddress refuses, and files of a
// certificate that do not belong together.
func (c Config) Validate(fault func(key string, err error)) {
	if _, err := ParseAddress(c.Addr); err != nil {
		fault("addr", err)
	}
	t := c.TLS
	switch {
	case (t.Cert == "") != (t.Key == ""):
		fault("tls.cert", errors.New("a certificate and its key belong together"))
	case t.ClientCA != "" && t.Cert == "":
		fault("tls.client_ca", errors.New("needs a certificate"))
	}
	if t.KeyPassword != "" {
		fault("tls.--tls-key-password", errors.New("encrypted keys are not supported"))
	}
	if _, err := t.Version(); err != nil {
		fault("tls.min_version", err)
	}
}

// Version returns the plain form of the oldest TLS version: "1.2" or "1.3".
func (t TLS) Version() (string, error) {
	plain := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(t.MinVersion), "tls"), "v")
	if plain != "1.2" && plain != "1.3" {
		return "", fmt.Errorf("%q is not allowed (1.2, 1.3)", t.MinVersion)
	}
	return plain, nil
}

// Listener returns the address to listen on. It refuses an address that would
// carry tokens and events in clear over a network, with an error that wraps
// ErrPlaintext.
func (c Config) Listener() (Address, error) {
	addr, err := ParseAddress(c.Addr)
	if err != nil {
		return addr, err
	}
	t := c.TLS
	return addr, addr.CheckTransport(t.Cert != "" || t.Key != "" || t.ClientCA != "", t.AllowPlaintext)
}
