package auth

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// hundred is a policy of a hundred tokens, T0 to T99.
func hundred(tb testing.TB) *Policy {
	tb.Helper()
	var c Config
	for i := range 100 {
		c.Tokens = append(c.Tokens, token(fmt.Sprintf("token-%d", i), fmt.Sprintf("T%d", i), "", "status:read"))
	}
	p, err := New(c, func(name string) string { return "the secret of token " + name })
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func TestEveryTokenIsFoundWhereverItStands(t *testing.T) {
	p := hundred(t)
	needs := []permission{required("status:read")}
	for i := range 100 {
		d := p.decide([]string{fmt.Sprintf("Bearer the secret of token T%d", i)}, needs)
		if want := fmt.Sprintf("token-%d", i); d.reason != "" || d.token != want {
			t.Errorf("got %+v, want %s", d, want)
		}
	}
}

// The digest of nothing is not that of a policy without tokens.
func TestAPolicyWithoutTokensKnowsNone(t *testing.T) {
	p, err := New(Config{AnonymousPermissions: []string{"*"}}, secrets)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"", "Bearer", "Bearer ", "Bearer x"} {
		if d := p.decide([]string{value}, []permission{required("status:read")}); d.reason != Unauthorized {
			t.Errorf("%q: got %+v, want unauthorized", value, d)
		}
	}
	if _, known := p.compare(digest{}); known {
		t.Error("a digest of zeros is known")
	}
}

// A digest equals itself and differs from one in which any bit is another.
func TestEveryBitOfADigestCounts(t *testing.T) {
	d := digestOf("a secret")
	if same := d; d.equal(&same) != 1 {
		t.Error("a digest differs from itself")
	}
	for word := range d {
		for bit := range 64 {
			other := d
			if other[word] ^= 1 << bit; d.equal(&other) != 0 {
				t.Errorf("bit %d of word %d does not count", bit, word)
			}
		}
	}
}

// What a guess is compared with is a digest, as long for every secret, and each is looked
// at whatever the others gave: near and far guesses take the same time.
func BenchmarkCompare(b *testing.B) {
	p := hundred(b)
	near := p.digests[0]
	near[len(near)-1] ^= 1
	far := p.digests[0]
	for i := range far {
		far[i] = ^far[i]
	}
	for _, tc := range []struct {
		name  string
		shown digest
	}{
		{"the first token", p.digests[0]},
		{"the last token", p.digests[99]},
		{"all but the last bit of the first", near},
		{"no bit of the first", far},
	} {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.compare(tc.shown)
			}
		})
	}
}

// A request with one of a hundred tokens.
func BenchmarkProtect(b *testing.B) {
	g := NewGate(hundred(b), &Metrics{}, nil)
	h := g.Protect(Endpoint{Pattern: "/api/v1/status", Permissions: []string{"status:read"}}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	w := httptest.NewRecorder()
	for _, tc := range []struct{ name, header string }{{"first", "Bearer the secret of token T0"}, {"last", "Bearer the secret of token T99"}} {
		b.Run(tc.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/api/v1/status", nil)
			r.Header.Set("Authorization", tc.header)
			ctx := r.Context()
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(w, r)
				*r = *r.WithContext(ctx) // as a new request
			}
		})
	}
}
