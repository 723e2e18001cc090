package webhook_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestSignaturesStayTheSameUntilTheyAreOld(t *testing.T) {
	for _, tc := range []struct {
		name, signing string
		header        string
		renewed       bool
	}{
		{"standard", "{secret_env: KEY}", "Webhook-Signature", true},
		{"standard with rotation", "{secret_env: KEY, rotate_secret_env: OLD}", "Webhook-Signature", true},
		{"github", "{secret_env: KEY, scheme: github}", "X-Hub-Signature-256", false},
		{"custom", "{secret_env: KEY, scheme: custom, custom: {signature_header: X-S, value_format: 't={timestamp},v1={signature}', signed_payload: '{timestamp}.{body}'}}", "X-S", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to := &receiver{answer: func(n int, w http.ResponseWriter, _ *http.Request) {
				if n < 6 {
					w.Header().Set("Retry-After", "60")
					w.WriteHeader(503)
				}
			}}
			virtual(t, titleBody+"    retry: {attempts: 10}\n    signing: "+tc.signing+"\n", to, func(b *bench) {
				b.put(odd("{id}{timestamp}"))
				time.Sleep(time.Hour)
				all := to.all()
				if len(all) != 7 {
					t.Fatalf("%d requests, want 7", len(all))
				}
				first := all[0]
				for i, a := range all {
					age := a.at.Sub(first.at)
					same := a.header.Get(tc.header) == first.header.Get(tc.header)
					if want := !tc.renewed || age <= 240*time.Second; same != want || a.header.Get(tc.header) == "" {
						t.Errorf("request %d after %s: the same signature: %t, want %t", i, age, same, want)
					}
					if a.header.Get("Webhook-Id") != first.header.Get("Webhook-Id") || a.body != "{id}{timestamp}" {
						t.Errorf("request %d has another id or body", i)
					}
					if tc.renewed {
						want := first.at.Unix()
						if age > 240*time.Second {
							want = a.at.Unix()
						}
						if got := a.header.Get("Webhook-Timestamp"); got != fmt.Sprint(want) {
							t.Errorf("request %d is stamped %s, want %d", i, got, want)
						}
					}
				}
			})
		})
	}
}

func TestTheIDOfASignatureCountsResults(t *testing.T) {
	to := answers(200)
	virtual(t, titleBody+"    signing: {secret_env: KEY}\n    scope: {rules: ['yes*']}\n", to, func(b *bench) {
		b.put(odd("no"), odd("yes 1"), odd("no"), odd("yes 2"))
		time.Sleep(time.Second)
		all := to.all()
		if len(all) != 2 {
			t.Fatalf("%d requests", len(all))
		}
		first, second := all[0].header.Get("Webhook-Id"), all[1].header.Get("Webhook-Id")
		if len(first) != len("msg_-1")+32 || !strings.HasSuffix(first, "-1") || second != strings.TrimSuffix(first, "1")+"3" {
			t.Errorf("ids %s and %s, want those of results 1 and 3 of one delivery", first, second)
		}
	})
}
