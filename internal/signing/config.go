package signing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/suggest"
	"golang.org/x/net/http/httpguts"
)

// The schemes.
const (
	SchemeStandard = "standard"
	SchemeGitHub   = "github"
	SchemeCustom   = "custom"
)

// Config is a section named signing. Absent keys are empty; Validate and New read them
// as their defaults.
type Config struct {
	// SecretEnv names the environment variable that holds the key.
	SecretEnv string `yaml:"secret_env"`
	// SecretEncoding is utf8 (the default: the bytes as they are) or base64, with or
	// without whsec_ in front.
	SecretEncoding string `yaml:"secret_encoding"`
	// Scheme is standard (the default), github or custom.
	Scheme string `yaml:"scheme"`
	// RotateSecretEnv names the variable of a second key, in the same encoding.
	RotateSecretEnv string `yaml:"rotate_secret_env"`
	// Custom is the scheme custom; nil for the others.
	Custom *Custom `yaml:"custom"`
}

// Custom describes a scheme of the receiver's own.
type Custom struct {
	// Algorithm is sha256 (the default) or sha512.
	Algorithm string `yaml:"algorithm"`
	// Encoding of the signature is hex (the default) or base64.
	Encoding string `yaml:"encoding"`
	// SignatureHeader is the header of the signature.
	SignatureHeader string `yaml:"signature_header"`
	// ValueFormat is the value of that header, with the tokens {signature}, {timestamp}
	// and {id}.
	ValueFormat string `yaml:"value_format"`
	// SignedPayload is the text that is signed, with the tokens {body}, {timestamp} and
	// {id}.
	SignedPayload string `yaml:"signed_payload"`
	// TimestampHeader and IDHeader are headers with the timestamp and the id alone;
	// empty for none.
	TimestampHeader string `yaml:"timestamp_header"`
	IDHeader        string `yaml:"id_header"`
}

// Validate reports every fault of the structure at once, with keys that begin with
// "signing.". Configured are the names of the headers that the request has anyway: none
// of them may be a header of the signature. No secret is read.
func (c Config) Validate(configured []string) error {
	_, err := c.plan(configured)
	return err
}

// plan reads everything but the secrets.
func (c Config) plan(configured []string) (plan, error) {
	var faults []error
	fail := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if strings.TrimSpace(c.SecretEnv) == "" {
		fail("missing required field 'signing.secret_env'")
	}
	oneOf := func(key, value string, known ...string) string {
		switch {
		case value == "":
			return known[0]
		case !slices.Contains(known, value):
			fail("unknown signing.%s '%s' (valid values: %s)%s", key, value, strings.Join(known, ", "), suggest.Behind(value, known))
		}
		return value
	}
	p := plan{
		base64: oneOf("secret_encoding", c.SecretEncoding, "utf8", "base64") == "base64",
		scheme: oneOf("scheme", c.Scheme, SchemeStandard, SchemeGitHub, SchemeCustom),
	}
	switch {
	case p.scheme == SchemeGitHub && c.RotateSecretEnv != "":
		fail("signing.rotate_secret_env cannot be used with scheme: github, which has room for one signature")
	case p.scheme == SchemeCustom && c.Custom == nil:
		fail("scheme: custom needs the section 'signing.custom'")
	case p.scheme != SchemeCustom && c.Custom != nil:
		fail("the section 'signing.custom' needs scheme: custom")
	}
	switch p.scheme {
	case SchemeStandard:
		p.standard()
	case SchemeGitHub:
		p.github()
	case SchemeCustom:
		if c.Custom != nil {
			p.custom(*c.Custom, oneOf, fail)
		}
	}
	p.collide(configured, fail)
	return p, errors.Join(faults...)
}

// custom reads the scheme of the receiver's own.
func (p *plan) custom(c Custom, oneOf func(key, value string, known ...string) string, fail func(string, ...any)) {
	p.sha512 = oneOf("custom.algorithm", c.Algorithm, "sha256", "sha512") == "sha512"
	p.hex = oneOf("custom.encoding", c.Encoding, "hex", "base64") == "hex"
	header := func(key, name string, required bool) string {
		switch {
		case strings.TrimSpace(name) == "" && required:
			fail("missing required field 'signing.custom.%s'", key)
		case name != "" && !httpguts.ValidHeaderFieldName(name):
			fail("signing.custom.%s: '%s' is no name of a header", key, name)
		}
		return name
	}
	p.signatureHeader = header("signature_header", c.SignatureHeader, true)
	p.timestampHeader = header("timestamp_header", c.TimestampHeader, false)
	p.idHeader = header("id_header", c.IDHeader, false)
	tokens := func(key, text string, known ...token) []piece {
		if strings.TrimSpace(text) == "" {
			fail("missing required field 'signing.custom.%s'", key)
			return nil
		}
		pieces, err := parse(text, known)
		if err != nil {
			fail("signing.custom.%s: %w", key, err)
		}
		return pieces
	}
	p.value = tokens("value_format", c.ValueFormat, tokenSignature, tokenTimestamp, tokenID)
	p.payload = tokens("signed_payload", c.SignedPayload, tokenBody, tokenTimestamp, tokenID)
	if p.value != nil && !slices.ContainsFunc(p.value, func(p piece) bool { return p.token == tokenSignature }) {
		fail("signing.custom.value_format: the token {signature} is missing")
	}
	if !httpguts.ValidHeaderFieldValue(c.ValueFormat) || strings.ContainsFunc(c.ValueFormat, func(r rune) bool { return r > '~' }) {
		fail("signing.custom.value_format: only visible ASCII characters, spaces and tabs can be sent")
	}
}

// collide reports headers of the signature that the request has already, and that the
// signature has twice.
func (p *plan) collide(configured []string, fail func(string, ...any)) {
	var own []string
	for _, name := range []string{p.signatureHeader, p.timestampHeader, p.idHeader} {
		same := func(other string) bool { return strings.EqualFold(name, other) }
		switch {
		case name == "":
		case slices.ContainsFunc(configured, same):
			fail("signing header '%s' is also a configured header", name)
		case slices.ContainsFunc(own, same):
			fail("signing header '%s' is used twice", name)
		}
		if name != "" {
			own = append(own, name)
		}
	}
}
