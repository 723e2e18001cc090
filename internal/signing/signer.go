package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RenewAfter is how long after its delivery a message of the standard scheme is signed
// with the time of the attempt. Receivers accept five minutes.
const RenewAfter = 240 * time.Second

// plan is a configuration that was read: what is signed, and where it goes.
type plan struct {
	scheme          string
	base64          bool // secrets are
	sha512          bool
	hex             bool // signatures are; else base64
	signatureHeader string
	timestampHeader string
	idHeader        string
	value           []piece
	payload         []piece
	renew           bool
}

func (p *plan) standard() {
	p.signatureHeader, p.timestampHeader, p.idHeader = "webhook-signature", "webhook-timestamp", "webhook-id"
	p.value = []piece{{"v1,", tokenSignature}}
	p.payload = []piece{{"", tokenID}, {".", tokenTimestamp}, {".", tokenBody}}
	p.renew = true
}

func (p *plan) github() {
	p.hex = true
	p.signatureHeader = "X-Hub-Signature-256"
	p.value = []piece{{"sha256=", tokenSignature}}
	p.payload = []piece{{"", tokenBody}}
}

// Signer signs messages. It never changes, and any goroutine may use it.
type Signer struct {
	plan plan
	keys [][]byte // the primary one first
}

// Message is what is signed.
type Message struct {
	ID        string    // the same on every retry: delivery and number of the result, "msg_...-0"
	Delivered time.Time // the same on every retry
	Body      []byte    // the exact bytes that are sent, empty without a body
}

// New returns the signer of a configuration. Its structure is checked first, as
// Validate does; secrets are read once, from getenv, and no message shows them.
func New(c Config, configured []string, getenv func(string) string) (*Signer, error) {
	p, err := c.plan(configured)
	if err != nil {
		return nil, err
	}
	s := &Signer{plan: p}
	var faults []error
	for _, name := range []string{c.SecretEnv, c.RotateSecretEnv} {
		if name == "" {
			continue
		}
		key, err := p.key(name, getenv(name))
		if err != nil {
			faults = append(faults, err)
		}
		s.keys = append(s.keys, key)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return s, nil
}

// key decodes the value of a variable.
func (p *plan) key(name, value string) ([]byte, error) {
	switch {
	case value == "":
		return nil, fmt.Errorf("signing secret environment variable '%s' is unset or empty", name)
	case !p.base64:
		return []byte(value), nil
	}
	text := strings.TrimPrefix(strings.TrimSpace(value), "whsec_")
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	switch {
	case err != nil:
		return nil, fmt.Errorf("signing secret environment variable '%s' does not hold base64 of the standard alphabet: %w", name, err)
	case len(key) == 0:
		return nil, fmt.Errorf("signing secret environment variable '%s' holds an empty key", name)
	}
	return key, nil
}

// Headers are the names of the headers that Sign sets.
func (s *Signer) Headers() []string {
	var names []string
	for _, name := range []string{s.plan.idHeader, s.plan.timestampHeader, s.plan.signatureHeader} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Sign sets the headers for an attempt that starts at now.
func (s *Signer) Sign(header http.Header, m Message, now time.Time) {
	p, at := &s.plan, m.Delivered
	if p.renew && now.Sub(m.Delivered) > RenewAfter {
		at = now
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	var value []byte
	for i, key := range s.keys {
		if i > 0 {
			value = append(value, ' ')
		}
		value = fill(value, p.value, func(dst []byte, t token) []byte {
			switch t {
			case tokenSignature:
				return p.sign(dst, key, m, timestamp)
			case tokenTimestamp:
				return append(dst, timestamp...)
			default:
				return append(dst, m.ID...)
			}
		})
	}
	header.Set(p.signatureHeader, string(value))
	if p.timestampHeader != "" {
		header.Set(p.timestampHeader, timestamp)
	}
	if p.idHeader != "" {
		header.Set(p.idHeader, m.ID)
	}
}

// sign appends the signature of a message under a key.
func (p *plan) sign(dst, key []byte, m Message, timestamp string) []byte {
	digest := func() hash.Hash { return sha256.New() }
	if p.sha512 {
		digest = func() hash.Hash { return sha512.New() }
	}
	mac := hmac.New(digest, key)
	for _, part := range p.payload {
		mac.Write([]byte(part.literal))
		switch part.token {
		case tokenBody:
			mac.Write(m.Body)
		case tokenTimestamp:
			mac.Write([]byte(timestamp))
		case tokenID:
			mac.Write([]byte(m.ID))
		}
	}
	sum := mac.Sum(nil)
	if p.hex {
		return hex.AppendEncode(dst, sum)
	}
	return base64.StdEncoding.AppendEncode(dst, sum)
}
