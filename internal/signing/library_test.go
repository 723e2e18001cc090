package signing

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// verify verifies a list of messages, and prints the verdict of each.
const verify = `
import json, sys
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
for m in json.load(sys.stdin):
    try:
        Webhook(m["secret"]).verify(m["body"], m["headers"], json_parse=False)
        print("accepted")
    except WebhookVerificationError as e:
        print("refused:", e)
`

// python is an interpreter with the library of the Standard Webhooks specification.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("SLUICE_WEBHOOKS_PYTHON")
	if path == "" {
		path = "python3"
	}
	err := exec.Command(path, "-c", "import standardwebhooks").Run()
	sigmatest.Need(t, err == nil, "install the Python package standardwebhooks, and name its interpreter in SLUICE_WEBHOOKS_PYTHON, to run this test")
	return path
}

func TestTheLibraryOfAnotherLanguageAcceptsSignatures(t *testing.T) {
	path := python(t)
	type message struct {
		Secret  string            `json:"secret"`
		Body    string            `json:"body"`
		Headers map[string]string `json:"headers"`
		want    string
	}
	now := time.Now()
	sign := func(c Config, secret string, body string, delivered, at time.Time, change func(*message), want string) message {
		c.SecretEncoding = "base64"
		header := make(http.Header)
		signer(t, c).Sign(header, Message{ID: "msg_00000000000000000000000000000001-0", Delivered: delivered, Body: []byte(body)}, at)
		m := message{Secret: env(secret), Body: body, Headers: make(map[string]string), want: want}
		for name := range header {
			m.Headers[strings.ToLower(name)] = header.Get(name)
		}
		change(&m)
		return m
	}
	same := func(*message) {}
	one, two := Config{SecretEnv: "WHSEC"}, Config{SecretEnv: "WHSEC", RotateSecretEnv: "B64_OLD"}
	messages := []message{
		sign(one, "WHSEC", `{"text":"Odd login"}`, now, now, same, "accepted"),
		sign(one, "WHSEC", "", now, now, same, "accepted"),
		sign(one, "WHSEC", "naïve {id} {timestamp}\n\u2028", now, now, same, "accepted"),
		sign(two, "WHSEC", "{}", now, now, same, "accepted"),
		sign(two, "B64_OLD", "{}", now, now, same, "accepted"),
		sign(one, "B64_OLD", "{}", now, now, same, "refused: No matching signature found"),
		sign(one, "WHSEC", "{}", now, now, func(m *message) { m.Body = "{ }" }, "refused: No matching signature found"),
		sign(one, "WHSEC", "{}", now.Add(-time.Hour), now.Add(-time.Hour), same, "refused: Message timestamp too old"),
		sign(one, "WHSEC", "{}", now.Add(-time.Hour), now, same, "accepted"),
	}
	input, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-c", verify)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(input)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	verdicts := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(verdicts) != len(messages) {
		t.Fatalf("got %d verdicts, want %d: %s", len(verdicts), len(messages), out)
	}
	for i, m := range messages {
		if verdicts[i] != m.want {
			t.Errorf("message %d: got %s, want %s", i, verdicts[i], m.want)
		}
	}
}
