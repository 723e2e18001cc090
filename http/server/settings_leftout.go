//go:build no_tls

package server

// TLS is the section of a build without it. It has no flags, and no plaintext is refused.
// Package unavailable refuses what names a certificate.
type TLS struct {
	Cert           string `yaml:"cert"`
	Key            string `yaml:"key"`
	ClientCA       string `yaml:"client_ca"`
	MinVersion     string `yaml:"min_version"`
	AllowPlaintext bool   `yaml:"allow_plaintext"`
}

func (TLS) validate(func(key string, err error)) {}

func (TLS) allowsPlaintext() bool { return true }

// Version is the oldest TLS version.
func (TLS) Version() (string, error) { return "1.3", nil }

// On reports whether the server has certificates.
func (TLS) On() bool { return false }
