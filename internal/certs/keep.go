package certs

import (
	"crypto/tls"
	"os"
	"slices"
	"sync"
	"time"
)

// NotRenewed is what a log says of an error that failed of NewKeep is told.
const NotRenewed = "the client certificate is not renewed, the one before stays in use"

// Keep is a certificate whose files are read again when they have changed. It keeps the
// last one that could be used, so that files which are just being replaced disturb nobody.
// It is safe for concurrent use.
type Keep struct {
	cert, key string
	now       func() time.Time
	failed    func(err error) // may be nil

	mu   sync.Mutex // guards the rest
	pair *tls.Certificate
	seen []stamp // of the files when they were last read
}

// stamp is what shows a change of a file.
type stamp struct {
	size int64
	at   time.Time
	info os.FileInfo
}

// NewKeep reads a certificate and its key, as Pair does, and refuses one that is not
// current. Each handshake tells failed of files that hold nothing better any more: that
// cannot be read, or whose certificate is not current. Nil tells nobody.
func NewKeep(cert, key string, now func() time.Time, failed func(err error)) (*Keep, error) {
	k := &Keep{cert: cert, key: key, now: now, failed: failed}
	k.seen = k.look()
	pair, err := k.read()
	if err != nil {
		return nil, err
	}
	k.pair = pair
	return k, nil
}

// GetClientCertificate is that of the tls.Config of a client.
func (k *Keep) GetClientCertificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	pair, err := k.latest()
	if err != nil && k.failed != nil {
		k.failed(err)
	}
	return pair, nil
}

// latest is the certificate as the files have it. With an error, which says why that
// cannot be used, it is the one before.
func (k *Keep) latest() (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	seen := k.look() // before they are read: what changes meanwhile is read again
	if alike(seen, k.seen) {
		return k.pair, k.current(k.pair)
	}
	pair, err := k.read()
	if err != nil {
		return k.pair, err
	}
	k.pair, k.seen = pair, seen
	return pair, nil
}

func (k *Keep) read() (*tls.Certificate, error) {
	pair, err := Pair(k.cert, k.key)
	if err != nil {
		return nil, err
	}
	return pair, k.current(pair)
}

func (k *Keep) current(pair *tls.Certificate) error {
	err := Current(pair.Leaf, k.now())
	if err == nil {
		return nil
	}
	f := faultf(k.cert, err, "%v", err)
	f.Dated = true
	return f
}

func (k *Keep) look() []stamp { return look(k.cert, k.key) }

func look(paths ...string) []stamp {
	s := make([]stamp, len(paths))
	for i, path := range paths {
		if info, err := os.Stat(path); err == nil {
			s[i] = stamp{info.Size(), info.ModTime(), info}
		}
	}
	return s
}

func alike(a, b []stamp) bool {
	return slices.EqualFunc(a, b, func(a, b stamp) bool {
		if a.info == nil || b.info == nil {
			return a.info == b.info // no file
		}
		return a.size == b.size && a.at.Equal(b.at) && os.SameFile(a.info, b.info)
	})
}
