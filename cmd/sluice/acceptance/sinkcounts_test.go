package acceptance

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// Of each sink, what was delivered, what was dropped and what are dead letters are all results,
// whatever the sinks beside it do.
func TestResultsAreCountedOnceAtEachSink(t *testing.T) {
	t.Parallel()
	const rounds, perRound = 20, 100
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(path("fifo"), 0o600); err != nil {
		t.Skipf("no FIFOs here: %v", err)
	}
	h := newHook(t, slices.Repeat([]int{200, 400, 503, 503}, rounds*perRound)...)
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	hook := write(t, dir, "hook.yml", fmt.Sprintf("webhooks:\n  - {id: h, kind: detection, url: %q, queue_size: 5, retry: {attempts: 2, backoff: 1ms}, body: '${detection.fields.C}'}\n", h.URL))
	d := start(t, "-r", rules, "--input", "http", "--buffer-size", "20", "--sink-retry-max", "1", "--sink-backoff-base-ms", "1",
		"--output", "file://"+path("fifo")+"?on_full=drop", "--output", "file:///dev/full?on_full=drop", "--output", "file://"+path("found"),
		"--output", "file://"+path("findings")+"?format=ocsf&on_full=drop", "--webhook", hook, "--dlq", "file://"+path("dead"))
	for round := range rounds {
		d.push(evilOnes(round*perRound, (round+1)*perRound)...)
	}
	sinks := map[string]func() int{ // how many results each has delivered
		"file":   func() int { return 0 },
		"file-2": func() int { return 0 },
		"file-3": func() int { return len(output(path("found")).lines()) },
		"file-4": func() int { return len(output(path("findings")).lines()) },
		"h":      func() int { return int(d.metric(`svc_webhook_requests_total{outcome="success",webhook_id="h"}`)) },
	}
	lost := func(label string) (failed, dropped int) {
		return int(d.metric(fmt.Sprintf("svc_sink_delivery_failures_total{sink=%q}", label))), int(d.metric(fmt.Sprintf("svc_sink_dropped_total{sink=%q}", label)))
	}
	failures, all := make(map[string]int), 0
	for label, delivered := range sinks {
		failed, dropped := 0, 0
		d.await("the end of every result at "+label, func() bool {
			failed, dropped = lost(label)
			return delivered()+failed+dropped >= rounds*perRound
		})
		failures[label], all = failed, all+failed
		if n := delivered(); n+failed+dropped != rounds*perRound {
			t.Errorf("%s: %d delivered, %d failed, %d dropped, want %d", label, n, failed, dropped, rounds*perRound)
		}
	}
	if n := int(d.metric("svc_dlq_events_total")); n != all {
		t.Errorf("%d dead letters are counted, want the %d failures", n, all)
	}
	d.stop()
	for _, line := range output(path("dead")).lines() {
		var letter struct{ Sink string }
		if err := json.Unmarshal([]byte(line), &letter); err != nil {
			t.Fatal(err)
		}
		failures[letter.Sink]--
	}
	for label, n := range failures {
		if n != 0 {
			t.Errorf("%s: %d failures more than dead letters", label, n)
		}
	}
	if n := len(output(path("found")).lines()); n != rounds*perRound {
		t.Errorf("the file that blocks has %d results, want all %d", n, rounds*perRound)
	}
}
