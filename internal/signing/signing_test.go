package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"
)

var delivered = time.Unix(1773100800, 0)

func message() Message {
	return Message{ID: "msg_00000000000000000000000000000001-0", Delivered: delivered, Body: []byte(`{"text":"Odd login"}`)}
}

// env is an environment with the keys of these tests.
func env(name string) string {
	return map[string]string{
		"KEY": "sluice-test-key", "OLD": "old-key",
		"B64": base64.StdEncoding.EncodeToString([]byte("sluice-test-key")), "B64_OLD": base64.StdEncoding.EncodeToString([]byte("old-key")),
		"WHSEC": "whsec_" + base64.StdEncoding.EncodeToString([]byte("sluice-test-key")), "UNPADDED": " whsec_" + base64.RawStdEncoding.EncodeToString([]byte("sluice-test-key!")) + "\n",
		"NO_KEY": "whsec_", "NOT_B64": "whsec_se*cret", "BLANKS": "  ",
	}[name]
}

func signer(t *testing.T, c Config) *Signer {
	t.Helper()
	s, err := New(c, nil, env)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	standardValue = "v1,N650g1Ova4HYFd8utBTMmVtBi+z2uECljPCpNdidsOU="
	oldValue      = "v1,Tu154Cl3Cn0KSEzvZIodnzf+LSJRSIJv20WvjizHbck="
	githubValue   = "sha256=c7d4effa12418f47f28d5645bcbe3ff03278934d59e30f576d5bc6e89ea9e69a"
	customValue   = "t=1773100800,v1=ff1809b8240856d9673f8d05d11b2026c9663266a66cb0cedcd40f4bc3f841e4"
)

func TestHeadersOfEveryScheme(t *testing.T) {
	custom := func(change func(*Custom)) Config {
		c := Custom{SignatureHeader: "X-Signature", ValueFormat: "t={timestamp},v1={signature}", SignedPayload: "{timestamp}.{body}"}
		change(&c)
		return Config{SecretEnv: "KEY", Scheme: "custom", Custom: &c}
	}
	id, timestamp := message().ID, "1773100800"
	for _, tc := range []struct {
		name string
		c    Config
		want map[string]string
	}{
		{"standard is the default", Config{SecretEnv: "KEY"}, map[string]string{"Webhook-Id": id, "Webhook-Timestamp": timestamp, "Webhook-Signature": standardValue}},
		{
			"standard with two keys, the primary one first",
			Config{SecretEnv: "KEY", Scheme: "standard", RotateSecretEnv: "OLD"},
			map[string]string{"Webhook-Id": id, "Webhook-Timestamp": timestamp, "Webhook-Signature": standardValue + " " + oldValue},
		},
		{
			"keys in base64, with and without whsec_",
			Config{SecretEnv: "WHSEC", SecretEncoding: "base64", RotateSecretEnv: "B64_OLD"},
			map[string]string{"Webhook-Id": id, "Webhook-Timestamp": timestamp, "Webhook-Signature": standardValue + " " + oldValue},
		},
		{"github", Config{SecretEnv: "KEY", Scheme: "github"}, map[string]string{"X-Hub-Signature-256": githubValue}},
		{"github with a key in base64", Config{SecretEnv: "B64", SecretEncoding: "base64", Scheme: "github"}, map[string]string{"X-Hub-Signature-256": githubValue}},
		{"custom", custom(func(*Custom) {}), map[string]string{"X-Signature": customValue}},
		{
			"custom with headers of its own", custom(func(c *Custom) { c.TimestampHeader, c.IDHeader = "X-Time", "X-Id" }),
			map[string]string{"X-Signature": customValue, "X-Time": timestamp, "X-Id": id},
		},
		{
			"custom with another digest and encoding", custom(func(c *Custom) {
				c.Algorithm, c.Encoding, c.ValueFormat, c.SignedPayload = "sha512", "base64", "{id}:{signature}", "{id}{body}"
			}),
			map[string]string{"X-Signature": id + ":" + base64.StdEncoding.EncodeToString(sum512("sluice-test-key", id+`{"text":"Odd login"}`))},
		},
		{
			"custom with two keys fills the value once for each", func() Config {
				c := custom(func(c *Custom) { c.ValueFormat = "v={signature}" })
				c.RotateSecretEnv = "OLD"
				return c
			}(),
			map[string]string{"X-Signature": "v=" + hex.EncodeToString(sum256("sluice-test-key", timestamp+`.{"text":"Odd login"}`)) + " v=" + hex.EncodeToString(sum256("old-key", timestamp+`.{"text":"Odd login"}`))},
		},
	} {
		s := signer(t, tc.c)
		header := make(http.Header)
		s.Sign(header, message(), delivered)
		if len(header) != len(tc.want) || len(s.Headers()) != len(tc.want) {
			t.Errorf("%s: got the headers %v (told: %v), want %v", tc.name, header, s.Headers(), tc.want)
		}
		for name, want := range tc.want {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s: got %s, want %s", tc.name, name, got, want)
			}
		}
		for _, name := range s.Headers() {
			if header.Get(name) == "" {
				t.Errorf("%s: %s is told and not set", tc.name, name)
			}
		}
	}
}

func sum256(key, text string) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func sum512(key, text string) []byte {
	mac := hmac.New(sha512.New, []byte(key))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func TestTokensAreReplacedInOnePass(t *testing.T) {
	s := signer(t, Config{SecretEnv: "KEY", Scheme: "custom", Custom: &Custom{
		SignatureHeader: "X-S", ValueFormat: "{id}.{signature}", SignedPayload: "{body}|{id}|{timestamp}|}",
	}})
	m := message()
	m.ID, m.Body = "{timestamp}", []byte("{id}{timestamp}{body}{signature}")
	header := make(http.Header)
	s.Sign(header, m, delivered)
	want := "{timestamp}." + hex.EncodeToString(sum256("sluice-test-key", "{id}{timestamp}{body}{signature}|{timestamp}|1773100800|}"))
	if got := header.Get("X-S"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRetriesHaveTheSameHeadersUntilTheyAreRenewed(t *testing.T) {
	for _, tc := range []struct {
		name    string
		c       Config
		after   time.Duration
		renewed bool
	}{
		{"standard at once", Config{SecretEnv: "KEY"}, 0, false},
		{"standard after 240 s", Config{SecretEnv: "KEY"}, 240 * time.Second, false},
		{"standard after more than that", Config{SecretEnv: "KEY"}, 240*time.Second + time.Millisecond, true},
		{"standard after an hour", Config{SecretEnv: "KEY", RotateSecretEnv: "OLD"}, time.Hour, true},
		{"standard with a clock that was put back", Config{SecretEnv: "KEY"}, -time.Hour, false},
		{"custom never", Config{SecretEnv: "KEY", Scheme: "custom", Custom: &Custom{SignatureHeader: "X", ValueFormat: "{signature}", SignedPayload: "{timestamp}", TimestampHeader: "Y"}}, time.Hour, false},
		{"github never", Config{SecretEnv: "KEY", Scheme: "github"}, time.Hour, false},
	} {
		s := signer(t, tc.c)
		first, retry, fresh := make(http.Header), make(http.Header), make(http.Header)
		s.Sign(first, message(), delivered)
		s.Sign(retry, message(), delivered.Add(tc.after))
		m := message()
		m.Delivered = delivered.Add(tc.after)
		s.Sign(fresh, m, m.Delivered)
		want := first
		if tc.renewed {
			want = fresh
		}
		for name := range first {
			if retry.Get(name) != want.Get(name) {
				t.Errorf("%s: %s: got %s, want %s", tc.name, name, retry.Get(name), want.Get(name))
			}
		}
		if retry.Get("webhook-id") != first.Get("webhook-id") {
			t.Errorf("%s: the id changed to %s", tc.name, retry.Get("webhook-id"))
		}
	}
}

func TestFaultsOfTheStructure(t *testing.T) {
	good := Custom{SignatureHeader: "X-S", ValueFormat: "{signature}", SignedPayload: "{body}"}
	custom := func(change func(*Custom)) Config {
		c := good
		change(&c)
		return Config{SecretEnv: "KEY", Scheme: "custom", Custom: &c}
	}
	for _, tc := range []struct {
		name       string
		c          Config
		configured []string
		want       []string
	}{
		{"no variable", Config{}, nil, []string{"missing required field 'signing.secret_env'"}},
		{"github has one signature", Config{SecretEnv: "KEY", Scheme: "github", RotateSecretEnv: "OLD"}, nil, []string{"signing.rotate_secret_env cannot be used with scheme: github, which has room for one signature"}},
		{"an unknown scheme", Config{SecretEnv: "KEY", Scheme: "Standart"}, nil, []string{"unknown signing.scheme 'Standart' (valid values: standard, github, custom) (did you mean 'standard'?)"}},
		{"an unknown encoding", Config{SecretEnv: "KEY", SecretEncoding: "hex"}, nil, []string{"unknown signing.secret_encoding 'hex' (valid values: utf8, base64)"}},
		{"custom without its section", Config{SecretEnv: "KEY", Scheme: "custom"}, nil, []string{"scheme: custom needs the section 'signing.custom'"}},
		{"the section without the scheme", Config{SecretEnv: "KEY", Custom: &good}, nil, []string{"the section 'signing.custom' needs scheme: custom"}},
		{"a header that the request has", Config{SecretEnv: "KEY"}, []string{"Accept", "Webhook-Signature"}, []string{"signing header 'webhook-signature' is also a configured header"}},
		{"the id, which the request has", Config{SecretEnv: "KEY"}, []string{"WEBHOOK-ID"}, []string{"signing header 'webhook-id' is also a configured header"}},
		{"the header of github", Config{SecretEnv: "KEY", Scheme: "github"}, []string{"x-hub-signature-256"}, []string{"signing header 'X-Hub-Signature-256' is also a configured header"}},
		{"one header for two things", custom(func(c *Custom) { c.TimestampHeader, c.IDHeader = "X-T", "x-s" }), nil, []string{"signing header 'x-s' is used twice"}},
		{"a blank header", custom(func(c *Custom) { c.SignatureHeader = " " }), nil, []string{"missing required field 'signing.custom.signature_header'"}},
		{"a header that is none", custom(func(c *Custom) { c.IDHeader = "X Id" }), nil, []string{"signing.custom.id_header: 'X Id' is no name of a header"}},
		{"no value", custom(func(c *Custom) { c.ValueFormat = "" }), nil, []string{"missing required field 'signing.custom.value_format'"}},
		{"a value without the signature", custom(func(c *Custom) { c.ValueFormat = "{id}" }), nil, []string{"signing.custom.value_format: the token {signature} is missing"}},
		{"a value that cannot be sent", custom(func(c *Custom) { c.ValueFormat = "{signature}\r\nX: y" }), nil, []string{"signing.custom.value_format: only visible ASCII characters, spaces and tabs can be sent"}},
		{"an unknown token", custom(func(c *Custom) { c.ValueFormat = "{signature}{body}" }), nil, []string{"signing.custom.value_format: unknown token {body} (valid tokens: {signature}, {timestamp}, {id})"}},
		{"an unclosed token", custom(func(c *Custom) { c.SignedPayload = "{body}.{id" }), nil, []string{"signing.custom.signed_payload: { is not closed"}},
		{"a token in a token", custom(func(c *Custom) { c.SignedPayload = `{"b":{body}}` }), nil, []string{`signing.custom.signed_payload: unknown token {"b":{body} (valid tokens: {body}, {timestamp}, {id})`}},
		{
			"everything at once",
			Config{Scheme: "custom", SecretEncoding: "x", Custom: &Custom{Algorithm: "md5", Encoding: "utf"}},
			nil,
			[]string{
				"missing required field 'signing.secret_env'", "unknown signing.secret_encoding 'x' (valid values: utf8, base64)",
				"unknown signing.custom.algorithm 'md5' (valid values: sha256, sha512)", "unknown signing.custom.encoding 'utf' (valid values: hex, base64)",
				"missing required field 'signing.custom.signature_header'", "missing required field 'signing.custom.value_format'", "missing required field 'signing.custom.signed_payload'",
			},
		},
	} {
		want := strings.Join(tc.want, "\n")
		if err := tc.c.Validate(tc.configured); err == nil || err.Error() != want {
			t.Errorf("%s: got\n%v, want\n%s", tc.name, err, want)
		}
		s, err := New(tc.c, tc.configured, func(name string) string {
			t.Errorf("%s: the secret %s was read", tc.name, name)
			return ""
		})
		if s != nil || err == nil || err.Error() != want {
			t.Errorf("%s: New gives %v, %v", tc.name, s, err)
		}
	}
	if err := custom(func(c *Custom) { c.SignedPayload = "}{body}" }).Validate([]string{"Accept"}); err != nil {
		t.Errorf("a section without faults: %v", err)
	}
}

func TestFaultsOfSecrets(t *testing.T) {
	for _, tc := range []struct {
		name string
		c    Config
		want string
	}{
		{"unset", Config{SecretEnv: "NONE"}, "signing secret environment variable 'NONE' is unset or empty"},
		{"both unset", Config{SecretEnv: "NONE", RotateSecretEnv: "NONE2"}, "signing secret environment variable 'NONE' is unset or empty\nsigning secret environment variable 'NONE2' is unset or empty"},
		{"the prefix alone", Config{SecretEnv: "NO_KEY", SecretEncoding: "base64"}, "signing secret environment variable 'NO_KEY' holds an empty key"},
		{"the second key", Config{SecretEnv: "KEY", RotateSecretEnv: "NONE"}, "signing secret environment variable 'NONE' is unset or empty"},
		{"no base64", Config{SecretEnv: "NOT_B64", SecretEncoding: "base64"}, "signing secret environment variable 'NOT_B64' does not hold base64 of the standard alphabet: illegal base64 data at input byte 2"},
	} {
		if s, err := New(tc.c, nil, env); s != nil || err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, %v, want %s", tc.name, s, err, tc.want)
		}
	}
	for _, c := range []Config{{SecretEnv: "UNPADDED", SecretEncoding: "base64"}, {SecretEnv: "BLANKS"}} {
		if _, err := New(c, nil, env); err != nil {
			t.Errorf("%s: %v", c.SecretEnv, err)
		}
	}
}

// A text with tokens never says more than its parts, whatever they are.
func FuzzTokens(f *testing.F) {
	for _, text := range []string{"{body}", "a{id}.{timestamp}}", "{", "{body", "{{id}}"} {
		f.Add(text, "{body}{id}")
	}
	f.Fuzz(func(t *testing.T, text, body string) {
		pieces, err := parse(text, []token{tokenBody, tokenID})
		if err != nil {
			return
		}
		got := string(fill(nil, pieces, func(dst []byte, of token) []byte {
			if of == tokenBody {
				return append(dst, body...)
			}
			return append(dst, '7')
		}))
		want := strings.NewReplacer("{body}", body, "{id}", "7").Replace(text)
		if got != want {
			t.Errorf("%q with %q: got %q, want %q", text, body, got, want)
		}
	})
}
