package deadletters

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/egress"
)

// hooks is a server of two webhooks, pager and tickets.
type hooks struct {
	*httptest.Server
	mu   sync.Mutex // guards the rest
	came []string
	ids  []string
	code func(path string) int
}

func newHooks(t *testing.T) *hooks {
	t.Helper()
	h := &hooks{code: func(string) int { return http.StatusOK }}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		code := h.code(r.URL.EscapedPath())
		if code == http.StatusOK {
			h.came = append(h.came, r.URL.EscapedPath()+" "+string(body))
			h.ids = append(h.ids, r.Header.Get("Webhook-Id"))
		}
		w.WriteHeader(code)
	}))
	t.Cleanup(h.Close)
	return h
}

const hookFile = `webhooks:
  - id: pager
    kind: detection
    url: URL/page/${detection.rule.title}
    body: '{"level":"${detection.rule.level}","user":${detection.fields.User},"event":${detection.event}}'
    scope: {levels: [high]}
    retry: {attempts: 2, backoff: 1ms, max_backoff: 1ms}
    signing: {secret_env: KEY}
  - id: tickets
    kind: correlation
    url: URL/ticket
    body: '${correlation.group_key} ${correlation.aggregated_value}'
    headers: {Content-Type: text/plain}
    retry: {attempts: 1}
`

// target is that of the two webhooks.
func (h *hooks) target(t *testing.T) Target {
	t.Helper()
	return h.targetOf(t, hookFile)
}

func (h *hooks) targetOf(t *testing.T, file string) Target {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hooks.yml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(file, "URL", h.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	all, faults := webhook.Load([]string{path}, webhook.LoadOptions{Getenv: func(string) string { return "key" }})
	if len(faults) > 0 {
		t.Fatal(faults[0])
	}
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	clients := sink.WebhookClients(egress.Default, "1")
	to := OpenWebhooks(all, func(w *webhook.Webhook) sink.Transport {
		return clients.Open(w, metrics, slog.New(slog.DiscardHandler))
	}, func(int, error) {})
	t.Cleanup(func() {
		if err := to.Close(); err != nil {
			t.Error(err)
		}
	})
	return to
}

// unposted is a dead letter of a webhook.
func unposted(id string, results ...string) string {
	return string(sink.AppendDeadLetter(nil, graph.DeadLetter{
		Original: []byte("[" + strings.Join(results, ",") + "]"), Error: "sink delivery failure: e", Stage: sink.StageDelivery, Sink: id, Attempts: 3,
	}, noon))
}

func found(title, user string) string {
	return `{"rule_title":"` + title + `","rule_id":null,"level":"high","tags":[],"matched_selections":["s"],"matched_fields":[{"field":"User","value":"` + user + `"}],"event":{"a":1}}`
}

const burst = `{"rule_title":"Burst","rule_id":null,"level":"high","tags":[],"correlation_type":"event_count","group_key":[["U","bob"]],"aggregated_value":3,"timespan_secs":60}`

// replayTo replays a file to the webhooks, and says what came.
func (h *hooks) replayTo(t *testing.T, path string) (r *replay, counts Counts, err error) {
	t.Helper()
	r = newReplay(path)
	r.Input, r.Target, r.To, r.By = nil, h.target(t), "hooks.yml", "--webhook"
	h.came, h.ids = nil, nil
	counts, err = r.run(t)
	return r, counts, err
}

func TestEachDeadLetterGoesToTheWebhookThatItNames(t *testing.T) {
	path := fileOf(t, unposted("pager", found("A b", `x\\y`), found("B", "z")), undelivered("file", noon, "C"), unposted("tickets", burst), unread("l", noon), unposted("pager", found("D", "")))
	h := newHooks(t)
	_, counts, err := h.replayTo(t, path)
	same(t, "error", err, nil)
	same(t, "counts", counts, Counts{Deliveries: 3, Results: 4, NoTarget: 1, NoInput: 1})
	same(t, "requests", strings.Join(h.came, "\n"), `/page/A%20b {"level":"high","user":"x\\y","event":{"a":1}}`+"\n"+
		`/page/B {"level":"high","user":"z","event":{"a":1}}`+"\n/ticket U=bob 3\n"+`/page/D {"level":"high","user":"","event":{"a":1}}`)
	first, second, _ := strings.Cut(strings.Join(h.ids[:2], " "), " ")
	if !strings.HasPrefix(first, "msg_") || strings.TrimSuffix(first, "-0") != strings.TrimSuffix(second, "-1") {
		t.Errorf("ids %v, want those of results of one delivery", h.ids)
	}
	ids := strings.Join(h.ids, " ")
	if err := os.Remove(path + ".replayed"); err != nil {
		t.Fatal(err)
	}
	_, _, err = h.replayTo(t, path)
	same(t, "error", err, nil)
	same(t, "ids of a repetition", strings.Join(h.ids, " "), ids)
	_, counts, _ = h.replayTo(t, path)
	same(t, "the second time", counts, Counts{Before: 5})
}

func TestWhatAWebhookDoesNotTake(t *testing.T) {
	path := fileOf(t,
		unposted("pager", burst), unposted("pager", strings.Replace(found("A", "u"), `"high"`, `"low"`, 1)), unposted("tickets", `{"incident_id":"i"}`),
		unposted("pager", found(".", "u")), unposted("pager", found("B", "u")), unposted("tickets", burst))
	h := newHooks(t)
	h.code = func(path string) int {
		if path == "/ticket" {
			return http.StatusBadRequest
		}
		return http.StatusOK
	}
	r, counts, err := h.replayTo(t, path)
	same(t, "error", err, nil)
	same(t, "counts", counts, Counts{Deliveries: 1, Results: 1, Refused: 5})
	same(t, "told", strings.Join(r.told, "\n"), strings.Join([]string{
		"1 refused: webhook 'pager' does not take value 1 of original_event, a correlation: its kind or its scope leaves it out",
		"2 refused: webhook 'pager' does not take value 1 of original_event, a detection: its kind or its scope leaves it out",
		"3 refused: value 1 of original_event: the line holds neither a detection nor a correlation",
		"4 refused: webhook pager: the URL has the path segment '.', which leads elsewhere",
		"6 refused: webhook tickets: HTTP 400 Bad Request",
	}, "\n"))
	same(t, "requests", strings.Join(h.came, "\n"), `/page/B {"level":"high","user":"u","event":{"a":1}}`)
}

func TestAWebhookThatIsAwayIsWaitedForByTheNextReplay(t *testing.T) {
	path := fileOf(t, unposted("pager", found("A", "u")), unposted("tickets", burst), unposted("pager", found("B", "u")))
	h := newHooks(t)
	h.code = func(path string) int {
		if path == "/ticket" {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}
	_, counts, err := h.replayTo(t, path)
	contains(t, err, "webhook tickets: HTTP 503 Service Unavailable")
	same(t, "counts", counts, Counts{Deliveries: 1, Results: 1})
	h.code = func(string) int { return http.StatusOK }
	_, counts, err = h.replayTo(t, path)
	same(t, "error", err, nil)
	same(t, "counts of the next", counts, Counts{Deliveries: 2, Results: 2, Before: 1})
	same(t, "requests", len(h.came), 2)
}

// A mistyped id is no reason to count a dead letter as done: the replay ends before it, and
// goes on with it once the file is mended.
func TestADeadLetterOfAWebhookThatIsNotThereWaits(t *testing.T) {
	path := fileOf(t, unposted("pager", found("A", "u")), undelivered("file-2", noon, "C"), unposted("chat", found("B", "u")), unposted("pager", found("D", "u")))
	h := newHooks(t)
	for _, counts := range []Counts{{Deliveries: 1, Results: 1, NoTarget: 1}, {Before: 2}} {
		_, got, err := h.replayTo(t, path)
		contains(t, err, `no webhook in hooks.yml has the id "chat" (there: pager, tickets); dead letter 3 and those behind it wait`)
		same(t, "counts", got, counts)
	}
	r := newReplay(path)
	r.Input, r.Target, r.To, r.By = nil, h.target(t), "hooks.yml", "--webhook"
	listed := 0
	r.State, r.Dry = "", func(*Record) error { listed++; return nil }
	_, err := r.run(t)
	contains(t, err, `has the id "chat"`)
	same(t, "a dry run lists", listed, 1)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mended := strings.Replace(hookFile, "id: pager", "id: chat", 1) + strings.Replace(strings.SplitAfter(hookFile, "webhooks:\n")[1], "id: tickets", "id: other", 1)
	r.Target, r.State, r.Dry = h.targetOf(t, mended), path+".replayed", nil
	h.came = nil
	counts, err := r.run(t)
	same(t, "error", err, nil)
	same(t, "counts", counts, Counts{Deliveries: 2, Results: 2, Before: 2})
	same(t, "requests", len(h.came), 2)
	if after, err := os.ReadFile(path); err != nil || string(after) != string(text) {
		t.Errorf("the dead letters were changed (%v)", err)
	}
}
