package sink

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// webhookOptions are those of a process with a file of webhooks.
func webhookOptions(t *testing.T, text string) (OutputsOptions, *prometheus.Registry) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "w.yml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewRegistry()
	metrics, err := NewMetrics(reg)
	if err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig()
	c.Webhooks = []string{name}
	return OutputsOptions{Config: c, Capacity: 7, Stream: new(bytes.Buffer), Metrics: metrics, Log: slog.New(slog.DiscardHandler)}, reg
}

func TestWebhooksAreSinksBehindTheOthers(t *testing.T) {
	o, reg := webhookOptions(t, `webhooks:
  - {id: a, kind: detection, url: 'https://x/', retry: {attempts: 5, backoff: 2s, max_backoff: 9s}}
  - {id: b, kind: detection, url: 'https://x/', queue_size: 9}
  - {id: c, kind: detection, url: 'https://x/', queue_size: 9}
`)
	o.Capacities = map[string]int{"sink:c": 3}
	out, err := OpenOutputs(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.close() }()
	var labels []string
	for _, s := range out.Sinks {
		labels = append(labels, s.Label())
	}
	if got := strings.Join(labels, " "); got != "stdout a b c" {
		t.Fatalf("sinks %q", got)
	}
	for i, want := range []int{7, 1024, 9, 3} {
		if got := out.Sinks[i].Lane().Stats().Capacity; got != want {
			t.Errorf("queue of %s holds %d, want %d", labels[i], got, want)
		}
	}
	a := out.Sinks[1]
	if out.Sinks[0].Drops() || !a.Drops() || a.o.BatchMax != 1 || a.o.Retry.Max != 4 || a.o.Retry.Base.String() != "2s" || a.o.Retry.Cap.String() != "9s" {
		t.Errorf("options %+v", a.o)
	}
	if a.Form() == out.Sinks[2].Form() {
		t.Error("two webhooks have one form")
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := make(map[string]int)
	for _, f := range families {
		series[f.GetName()] = len(f.GetMetric())
	}
	if series["webhook_requests_total"] != 9 || series["webhook_request_duration_seconds"] != 3 || series["sink_dropped_total"] != 4 {
		t.Errorf("series at the start: %v", series)
	}
}

func TestWebhooksThatAreWrongRefuseTheStart(t *testing.T) {
	o, _ := webhookOptions(t, "webhooks: [{id: stdout, kind: detection, url: 'https://x/'}, {id: b, url: 'https://x/'}]\n")
	out, err := OpenOutputs(o)
	if err == nil || out != nil {
		t.Fatalf("got %v, %v, want an error alone", out, err)
	}
	for _, want := range []string{"w.yml:1: webhook 'stdout': the id 'stdout' is the label of another sink", "w.yml:1: webhook 'b': missing required field 'kind'"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func TestLabelsOfAllSinksAreTaken(t *testing.T) {
	o, _ := webhookOptions(t, "webhooks: [{id: file-2, kind: detection, url: 'https://x/'}, {id: file-3, kind: detection, url: 'https://x/'}]\n")
	dir := t.TempDir()
	o.Config.Sinks = []string{"file://" + dir + "/a", "file://" + dir + "/b", "stdout"}
	loaded, faults := o.Config.LoadWebhooks("", nil, nil)
	if len(loaded) != 1 || loaded[0].ID != "file-3" || len(faults) != 1 || !strings.Contains(faults[0].Error(), "'file-2' is the label of another sink") {
		t.Errorf("%d webhooks, faults %v", len(loaded), faults)
	}
}

// Two features with sinks of lines each get their own, and none when the start fails.
func TestEveryAskerGetsItsOwnSinkOfLines(t *testing.T) {
	const good = "webhooks: [{id: a, kind: detection, url: 'https://x/'}]\n"
	for _, tc := range []struct{ name, webhooks, want string }{
		{"when all are open", good, "first=first second=second"},
		{"not after a fault", "webhooks: [{id: a}]\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, _ := webhookOptions(t, tc.webhooks)
			var got []string
			for _, name := range []string{"first", "second", "silent"} {
				l := LineSink{Name: name, About: "x", Spec: Spec{Kind: KindFile, Target: filepath.Join(t.TempDir(), name)}, Capacity: 1}
				if name != "silent" {
					l.Ready = func(s *Lines) { got = append(got, name+"="+s.o.Name) }
				}
				o.Lines = append(o.Lines, l)
			}
			out, err := OpenOutputs(o)
			if (err == nil) != (tc.want != "") {
				t.Fatal(err)
			}
			if out != nil {
				defer func() { _ = out.close() }()
			}
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("ready: %q, want %q", text, tc.want)
			}
		})
	}
}
