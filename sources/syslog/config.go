package syslog

import (
	"errors"

	"github.com/sluicehq/sluice/internal/certs"
)

// Config is the section of syslog inputs.
type Config struct {
	MaxConnections int   `yaml:"max_connections" min:"1" help:"Connections to a syslog input at once"`
	TLS            Files `yaml:"tls"`
}

// Files names the files of syslog+tls inputs.
type Files struct {
	Cert     string `yaml:"cert" flag:"syslog-tls-cert" help:"Certificate of syslog+tls inputs, in PEM, those that lead to a root behind it"`
	Key      string `yaml:"key" flag:"syslog-tls-key" help:"Key of the certificate, in PEM, not encrypted"`
	ClientCA string `yaml:"client_ca" flag:"syslog-tls-client-ca" help:"Roots that certificates of senders must lead to; every sender then needs one"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config { return Config{MaxConnections: 1024} }

// Validate reports files that do not belong together.
func (t Files) Validate(fault func(key string, err error)) {
	switch {
	case (t.Cert == "") != (t.Key == ""):
		fault("cert", errors.New("a certificate and its key belong together (--syslog-tls-cert, --syslog-tls-key)"))
	case t.ClientCA != "" && t.Cert == "":
		fault("client_ca", errors.New("needs a certificate (--syslog-tls-cert, --syslog-tls-key)"))
	}
}

// errNoCertificate is an input over TLS that has none.
var errNoCertificate = errors.New("needs a certificate and its key (--syslog-tls-cert, --syslog-tls-key)")

// Check reads the files, and reports what an input over TLS cannot be opened with. What
// Validate reports it leaves out.
func (t Files) Check(fault func(key string, err error)) {
	sound := true
	if t.Validate(func(string, error) { sound = false }); !sound {
		return
	}
	if t.Cert == "" {
		fault("cert", errNoCertificate)
		return
	}
	_, err := certs.NewServing(t.files(), func(error) {})
	if err == nil {
		return
	}
	rest := certs.Retell(err, func(f *certs.Fault) error {
		switch {
		case f.Key:
			fault("key", f)
		case f.Path == t.ClientCA && f.Path != t.Cert:
			fault("client_ca", f)
		default:
			fault("cert", f)
		}
		return nil
	})
	if rest != nil {
		fault("cert", rest)
	}
}

// files are those of a server.
func (t Files) files() certs.Files {
	return certs.Files{Cert: t.Cert, Key: t.Key, ClientCA: t.ClientCA}
}
