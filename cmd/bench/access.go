package main

import (
	"crypto/tls"
	"net/http"
)

// access is how a daemon is spoken to. The zero value is in clear, without a token.
type access struct {
	tls   *tls.Config // nil for plaintext
	token string      // "" for none
}

func (w access) url(addr, path string) string {
	if w.tls != nil {
		return "https://" + addr + path
	}
	return "http://" + addr + path
}

// client is a client for so many connections at once. Its idle connections are to be closed.
func (w access) client(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, TLSClientConfig: w.tls.Clone()}}
}

func (w access) ask(c *http.Client, r *http.Request) (*http.Response, error) {
	if w.token != "" {
		r.Header.Set("Authorization", "Bearer "+w.token)
	}
	return c.Do(r)
}
