package webhook_test

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

// verifier reads requests and prints what the library says of each.
const verifier = `
import json, sys
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
for line in sys.stdin:
    r = json.loads(line)
    try:
        Webhook(r["secret"]).verify(r["body"], r["headers"], json_parse=False)
        print("verified")
    except WebhookVerificationError as e:
        print(e)
`

// python is an interpreter that has the package standardwebhooks.
func python(t *testing.T) string {
	t.Helper()
	name := cmp.Or(os.Getenv("SLUICE_WEBHOOKS_PYTHON"), "python3")
	err := exec.Command(name, "-c", "import standardwebhooks").Run()
	sigmatest.Need(t, err == nil, "no Python with the package standardwebhooks: install it with pip, and name the interpreter in SLUICE_WEBHOOKS_PYTHON, to run this test")
	return name
}

func TestTheStandardLibraryOfAnotherLanguageVerifiesSignatures(t *testing.T) {
	interpreter := python(t)
	const (
		primary = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		old     = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
		other   = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	)
	to := answers(200)
	server := httptest.NewServer(to)
	defer server.Close()
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	type request struct {
		Secret  string            `json:"secret"`
		Body    string            `json:"body"`
		Headers map[string]string `json:"headers"`
	}
	var asked []request
	var want []string
	for _, tc := range []struct {
		name, signing string
		title         string
		age           time.Duration // of the delivery
		altered       bool
		verdicts      map[string]string // by secret
	}{
		{"one key", "", "Odd login", 0, false, map[string]string{primary: "verified", old: "No matching signature found"}},
		{"two keys", ", rotate_secret_env: OLD", "Odd login", 0, false, map[string]string{primary: "verified", old: "verified", other: "No matching signature found"}},
		{"a body with tokens, quotes and other scripts", "", "{id}.{timestamp} \"é\" \u2028 漢字\n", 0, false, map[string]string{primary: "verified"}},
		{"an altered body", "", "Odd login", 0, true, map[string]string{primary: "No matching signature found"}},
		{"an old delivery that is signed anew", "", "Odd login", 6 * time.Minute, false, map[string]string{primary: "verified"}},
		{"a delivery whose signature is still good", "", "Odd login", 3 * time.Minute, false, map[string]string{primary: "verified"}},
	} {
		w := load(t, "webhooks:\n  - id: w\n    kind: detection\n    url: "+server.URL+"\n    body: '{\"text\":\"${detection.rule.title}\"}'\n    signing: {secret_env: KEY, secret_encoding: base64"+tc.signing+"}\n",
			map[string]string{"KEY": primary, "OLD": old})[0]
		clients := webhook.Clients{New: func(c *tls.Config) *http.Client { return egressClient(egress.Options{})(c) }}
		transport := clients.Open(w, metrics, slog.New(slog.DiscardHandler))
		m := graph.Message{Envelope: &graph.Envelope{Time: time.Now().Add(-tc.age)}}
		if m.Body, err = w.Form().Append(nil, graph.Payload{Result: odd(tc.title)}, &m); err != nil {
			t.Fatal(err)
		}
		if _, err := transport.Write(t.Context(), []graph.Message{m}); err != nil {
			t.Fatal(err)
		}
		_ = transport.Close()
		all := to.all()
		got := all[len(all)-1]
		for secret, verdict := range tc.verdicts {
			r := request{secret, got.body, make(map[string]string)}
			if tc.altered {
				r.Body += " "
			}
			for name := range got.header {
				r.Headers[name] = got.header.Get(name)
			}
			asked, want = append(asked, r), append(want, verdict+" ("+tc.name+")")
		}
	}
	var in bytes.Buffer
	for _, r := range asked {
		if err := json.NewEncoder(&in).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(interpreter, "-c", verifier)
	cmd.Stdin = &in
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != len(want) {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, line := range lines {
		if !strings.HasPrefix(want[i], line+" (") {
			t.Errorf("the library says %q, want %s", line, want[i])
		}
	}
}
