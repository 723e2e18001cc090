package auth

import (
	"strings"
	"testing"
)

// A permission that is read is written as it was read, and stays within its letters.
func FuzzPermissions(f *testing.F) {
	for _, text := range []string{"*", "*:*", "*:read", "silences:write", "a", ":", "a:b:c", "Sil*:read", " a:b ", "a\x00:b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parse(text)
		if err != nil {
			return
		}
		again, err := parse(p.String())
		if err != nil || again != p {
			t.Errorf("%q: got %v, and of that %v, %v", text, p, again, err)
		}
		if given := strings.TrimSpace(text); given != p.String() && given != "*" {
			t.Errorf("%q became %v", text, p)
		}
		if strings.Trim(p.String(), "abcdefghijklmnopqrstuvwxyz0123456789_-*:") != "" || strings.Count(p.String(), ":") != 1 {
			t.Errorf("%q gives %v", text, p)
		}
	})
}

// Only the scheme, one blank and the very secret are a token.
func FuzzHeaders(f *testing.F) {
	p, err := New(team, teamSecrets)
	if err != nil {
		f.Fatal(err)
	}
	for _, value := range []string{"", "Bearer", "Bearer ", "Bearer see-secret", "bEARER op-secret", "Bearer  see-secret", "Basic see-secret", "Bearer see-secret\n"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		want := ""
		if len(value) > len("Bearer ") && strings.ToLower(value[:len("Bearer ")]) == "bearer " {
			for _, c := range team.Tokens {
				if value[len("Bearer "):] == teamSecrets(c.TokenEnv) {
					want = c.Name
				}
			}
		}
		if got := p.decide([]string{value}, nil); got.token != want || (got.reason == "") != (want != "") {
			t.Errorf("%q: got %+v, want the token %q", value, got, want)
		}
		if got := p.decide([]string{value, value}, nil); got.reason != Unauthorized {
			t.Errorf("%q twice: got %+v, want it rejected", value, got)
		}
	})
}
