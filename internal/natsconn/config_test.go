package natsconn

import (
	"slices"
	"strings"
	"testing"
)

func TestWaysToLogInExcludeEachOther(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  Config
		want []string // key and message
	}{
		{"none", Config{}, nil},
		{"a credentials file", Config{Creds: "secret"}, nil},
		{"a token", Config{Token: "secret"}, nil},
		{"a seed", Config{NKey: "secret"}, nil},
		{"user and password", Config{User: "u", Password: "secret"}, nil},
		{"a client certificate with any of them", Config{Token: "secret", TLSCert: "c", TLSKey: "k", TLSCA: "r", RequireTLS: true}, nil},
		{"two", Config{Creds: "secret", Token: "secret"}, []string{"--nats-creds: excludes --nats-token"}},
		{"two others", Config{NKey: "secret", User: "u", Password: "secret"}, []string{"--nats-nkey: excludes --nats-user"}},
		{"all four", Config{Creds: "secret", Token: "secret", User: "u", Password: "secret", NKey: "secret"}, []string{"--nats-creds: excludes --nats-nkey and --nats-token and --nats-user"}},
		{"a user without password", Config{User: "u"}, []string{"--nats-user: --nats-user and --nats-password belong together"}},
		{"a password without user", Config{Password: "secret"}, []string{"--nats-user: --nats-user and --nats-password belong together"}},
		{"a certificate without key", Config{TLSCert: "c"}, []string{"--nats-tls-cert: --nats-tls-cert and --nats-tls-key belong together"}},
		{"a key without certificate", Config{TLSKey: "k"}, []string{"--nats-tls-cert: --nats-tls-cert and --nats-tls-key belong together"}},
	} {
		var got []string
		tc.cfg.Validate(func(key string, err error) { got = append(got, key+": "+err.Error()) })
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestAddressesAreHostPortAndSubject(t *testing.T) {
	for _, tc := range []struct{ name, target, server, subject, err string }{
		{"a name", "h:4222/a.b", "nats://h:4222", "a.b", ""},
		{"an IPv6 address", "[::1]:4222/a", "nats://[::1]:4222", "a", ""},
		{"everything behind the first slash is the subject", "h:1/a/b", "nats://h:1", "a/b", ""},
		{"no subject", "h:1", "nats://h:1", "", ""},
		{"no port", "h/a", "", "", "'h' is no host:port"},
		{"several servers", "h:4222,i:4222/a", "", "", "'h:4222,i:4222' is no host:port: name one server"},
		{"no host", ":4222/a", "", "", "':4222' is no host:port"},
		{"a port beyond all ports", "h:70000/a", "", "", "'h:70000' is no host:port"},
		{"a login", "u:secret@h:1/a", "", "", "holds no credentials"},
		{"a login with a slash", "u:sec/ret@h:1/a", "", "", "holds no credentials"},
	} {
		server, subject, err := Address(tc.target)
		if server != tc.server || subject != tc.subject || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: got %q %q %v, want %q %q %q", tc.name, server, subject, err, tc.server, tc.subject, tc.err)
		}
		if err != nil && strings.Contains(err.Error(), "sec") {
			t.Errorf("%s: the error shows a secret: %v", tc.name, err)
		}
	}
}

func TestConcreteSubjectsNameOnePlace(t *testing.T) {
	for subject, want := range map[string]bool{
		"a": true, "a.b.c": true, "alerts.high_1-x": true, "*": false, "a.*": false, "a.>": false, ">": false, "": false,
		".a": false, "a.": false, "a..b": false, "a b": false, "a.\tb": false, "a\n": false, "a*": false,
	} {
		if err := Concrete(subject); (err == nil) != want {
			t.Errorf("%q: got %v, want it allowed: %t", subject, err, want)
		}
	}
}

func TestPatternsCoverWhatTheyMatchWhole(t *testing.T) {
	for _, tc := range []struct {
		pattern, filter string
		want            bool
	}{
		{"a.b", "a.b", true},
		{"a.b", "a.c", false},
		{"a.b", "a", false},
		{"a", "a.b", false},
		{"a.*", "a.b", true},
		{"a.*", "a.*", true},
		{"a.*", "a.>", false},
		{"a.*", "a.b.c", false},
		{"a.>", "a.b.c", true},
		{"a.>", "a.>", true},
		{"a.>", "a.*", true},
		{"a.>", "a", false},
		{">", "a", true},
		{">", ">", true},
		{"a.b", "a.*", false},
		{"*.b", "a.b", true},
		{"*.b", ">", false},
	} {
		if got := Covers([]string{"other", tc.pattern}, tc.filter); got != tc.want {
			t.Errorf("%s covers %s: got %t, want %t", tc.pattern, tc.filter, got, tc.want)
		}
	}
}

func TestFiltersThatMayMatchOneSubject(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a", "a.b", false},
		{"a.>", "a", false},
		{"a.>", "a.b.c", true},
		{"a.>", "a.*", true},
		{">", "a", true},
		{"*.a", "b.*", true},
		{"*.a", "b.c", false},
		{"*.a", "b.c.>", false},
		{"*", "a.b", false},
	} {
		if Overlap(tc.a, tc.b) != tc.want || Overlap(tc.b, tc.a) != tc.want {
			t.Errorf("%s and %s: want %t, both ways round", tc.a, tc.b, tc.want)
		}
	}
}

func TestFiltersThatTakeWhatServersAreAskedBy(t *testing.T) {
	for filter, want := range map[string]bool{
		">": true, "*.>": true, "*.*": true, "$JS.>": true, "$SYS.a": true, "$JS.EVENT.ADVISORY.>": false, "$SYS.ACCOUNT.>": false,
		"*": false, "events.>": false, "a.>": false, "JS.>": false,
	} {
		if got := Reserved(filter); got != want {
			t.Errorf("%s: got %t, want %t", filter, got, want)
		}
	}
}

func TestStreamsAreNamedAfterTheirSubject(t *testing.T) {
	for filter, want := range map[string]string{
		"events.>": "sluice-events", "logs.*.auth": "sluice-logs---auth", ">": "sluice-all", "*": "sluice-all", "a.b": "sluice-a-b",
	} {
		if got := StreamName(filter); got != want {
			t.Errorf("%s: got %s, want %s", filter, got, want)
		}
	}
}
