package redact

import (
	"slices"
	"testing"
)

func TestSecretsOfTextsAreHidden(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"a word", "stdout", "stdout"},
		{"an address of mail", "ops@example.org", "ops@example.org"},
		{"a tag of a rule", "attack.t1078@v2", "attack.t1078@v2"},
		{"a path, whatever it holds", "file:///a:b@c?on_full=drop", "file:///a:b@c?on_full=drop"},
		{"a socket", "unix:///run/a@b.sock", "unix:///run/a@b.sock"},
		{"a password", "nats://u:secret@h:1/s", "nats://u:xxxxx@h:1/s"},
		{"a token", "nats://secret@h:1/s", "nats://xxxxx@h:1/s"},
		{"a host without a port", "https://u:secret@h.example/s", "https://u:xxxxx@h.example/s"},
		{"a literal address", "https://u:secret@[::1]/s@t", "https://u:xxxxx@[::1]/s@t"},
		{"a password with signs that end a host", "nats://u:se/c@ret@h:1/s", "nats://u:xxxxx@h:1/s"},
		{"a token with such a sign", "nats://se/cret@h:1/s", "nats://xxxxx@h:1/s"},
		{"a URL without one", "nats://h:1/s", "nats://h:1/s"},
		{"a subject with the sign", "nats://h:1/s@t", "nats://h:1/s@t"},
		{"a path with the sign", "https://example.org/u:v@w", "https://example.org/u:v@w"},
		{"a parameter with the sign", "https://localhost?to=a@example.org", "https://localhost?to=a@example.org"},
		{"a password before a path with the sign", "https://u:secret@example.org/a@b", "https://u:xxxxx@example.org/a@b"},
		{"a URL within a text", `get "https://u:secret@h:1/x" for ops@example.org`, `get "https://u:xxxxx@h:1/x" for ops@example.org`},
		{"two of them", "https://a:secret@h:1 https://b:secret@h:2", "https://a:xxxxx@h:1 https://b:xxxxx@h:2"},
		{"a secret parameter", "https://h/x?n=1&api_key=secret#f", "https://h/x?n=1&api_key=xxxxx#f"},
		{"a secret parameter of a word", "stdout?token=secret", "stdout?token=xxxxx"},
		{"the variable of a secret", "https://h:1/x?token_env=NAME", "https://h:1/x?token_env=NAME"},
		{"other parameters", "file:///x?on_full=drop&format=ocsf", "file:///x?on_full=drop&format=ocsf"},
		{"several", "https://h/x?a=1&sig=secret&b=2&pwd=secret", "https://h/x?a=1&sig=xxxxx&b=2&pwd=xxxxx"},
		{"what is no parameter", "select(.token=5) & .a?", "select(.token=5) & .a?"},
		{"an empty one", "https://h:1/x?token=", "https://h:1/x?token="},
	} {
		if got := Text(tc.text); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestSecretFlagsAreHidden(t *testing.T) {
	got := Args([]string{
		"sluice", "engine", "daemon", "--nats-token", "secret", "--nats-password=secret", "--api-token-env", "NAME", "--nats-tls-key", "k.pem",
		"--output", "nats://u:secret@h:1/s", "--tls-key-password", "secret", "-r", "rules",
	})
	want := []string{
		"sluice", "engine", "daemon", "--nats-token", "xxxxx", "--nats-password=xxxxx", "--api-token-env", "NAME", "--nats-tls-key", "k.pem",
		"--output", "nats://u:xxxxx@h:1/s", "--tls-key-password", "xxxxx", "-r", "rules",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestNamesOfSecrets(t *testing.T) {
	for name, want := range map[string]bool{
		"token": true, "Access-Token": true, "x_api_key": true, "client_secret": true, "sig": true, "key": true,
		"secret_env": false, "token-file": false, "keyword": false, "nats-nkey": true, "monkey": false, "on_full": false, "signed": false, "author": false,
	} {
		if got := Secret(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
