package certs

import (
	"crypto/tls"
	"errors"
	"sync"
)

// Suites are those of TLS 1.2 that servers offer: with forward secrecy, and authenticated.
// TLS 1.3 has no others.
func Suites() []uint16 {
	return []uint16{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	}
}

// Files are those of a server: what it shows, and the roots of what it demands, if any.
type Files struct{ Cert, Key, ClientCA string }

// Serving is the TLS of a server, from version 1.2 on. Files that have changed are read
// again before a handshake. What cannot be used leaves what was before in use. It is safe
// for concurrent use.
type Serving struct {
	files  Files
	failed func(err error)

	mu     sync.Mutex // guards the rest
	config *tls.Config
	seen   []stamp
}

// NewServing reads the files. failed is told of files that cannot be used any more, at each
// handshake.
func NewServing(files Files, failed func(err error)) (*Serving, error) {
	s := &Serving{files: files, failed: failed}
	s.seen = s.look()
	var err error
	s.config, err = s.read()
	return s, err
}

// Config is that of the next handshake. A session is never resumed past files that have
// changed, as each configuration has ticket keys of its own.
func (s *Serving) Config() *tls.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.look() // before they are read: what changes meanwhile is read again
	if alike(seen, s.seen) {
		return s.config
	}
	config, err := s.read()
	if err != nil {
		s.failed(err)
		return s.config
	}
	s.config, s.seen = config, seen
	return config
}

func (s *Serving) read() (*tls.Config, error) {
	pair, pairErr := Pair(s.files.Cert, s.files.Key)
	config := &tls.Config{MinVersion: tls.VersionTLS12, CipherSuites: Suites()}
	var rootsErr error
	if s.files.ClientCA != "" {
		roots, err := Roots(s.files.ClientCA)
		config.ClientAuth, config.ClientCAs, rootsErr = tls.RequireAndVerifyClientCert, Pool(roots), err
	}
	if err := errors.Join(pairErr, rootsErr); err != nil {
		return nil, err
	}
	config.Certificates = []tls.Certificate{*pair}
	return config, nil
}

func (s *Serving) look() []stamp { return look(s.files.Cert, s.files.Key, s.files.ClientCA) }
