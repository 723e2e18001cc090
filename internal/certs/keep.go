package certs

import (
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// Keep is a certificate whose files are read again when they have changed. It keeps the
// last one that could be read, so that files which are just being replaced disturb nobody.
// It is safe for concurrent use.
type Keep struct {
	// Failed is told of files that a handshake finds unreadable. It is set before the
	// first one; nil tells nobody.
	Failed func(err error)

	cert, key string

	mu   sync.Mutex // guards the rest
	pair *tls.Certificate
	seen [2]stamp // of the files when they were last read
}

// stamp is what shows a change of a file.
type stamp struct {
	size int64
	at   time.Time
	info os.FileInfo
}

// NewKeep reads a certificate and its key, as Pair does.
func NewKeep(cert, key string) (*Keep, error) {
	k := &Keep{cert: cert, key: key}
	k.seen = k.look()
	var err error
	if k.pair, err = Pair(cert, key); err != nil {
		return nil, err
	}
	return k, nil
}

// GetClientCertificate is that of the tls.Config of a client.
func (k *Keep) GetClientCertificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	pair, err := k.Now()
	if err != nil && k.Failed != nil {
		k.Failed(err)
	}
	return pair, nil
}

// Now is the certificate as the files have it. With an error, which says why they cannot
// be read, it is the one before.
func (k *Keep) Now() (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.look() // before they are read: what changes meanwhile is read again
	if same(now, k.seen) {
		return k.pair, nil
	}
	pair, err := Pair(k.cert, k.key)
	if err != nil {
		return k.pair, err
	}
	k.pair, k.seen = pair, now
	return pair, nil
}

func (k *Keep) look() (s [2]stamp) {
	for i, path := range []string{k.cert, k.key} {
		if info, err := os.Stat(path); err == nil {
			s[i] = stamp{info.Size(), info.ModTime(), info}
		}
	}
	return s
}

func same(a, b [2]stamp) bool {
	for i := range a {
		if a[i].size != b[i].size || !a[i].at.Equal(b[i].at) || !os.SameFile(a[i].info, b[i].info) {
			return false
		}
	}
	return true
}
