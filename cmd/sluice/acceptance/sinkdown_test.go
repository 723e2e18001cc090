package acceptance

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
)

// downSpan is for how long messages come. SLUICE_DOWN says it.
func downSpan(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("SLUICE_DOWN")
	if text == "" {
		return 6 * time.Second
	}
	span, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("SLUICE_DOWN: %v", err)
	}
	return span
}

// downFor is how long the sink is down, and then up: longer than the server waits for an
// acknowledgement.
const (
	downFor     = 1500 * time.Millisecond
	downAckWait = time.Second
	downPending = 500
)

// flap is a webhook's receiver that is down half of the time: it breaks connections, or
// refuses, in turn.
type flap struct {
	*httptest.Server
	begun time.Time

	mu       sync.Mutex // guards the rest
	always   bool       // it is up
	times    map[string]int
	refusals int
}

var numberedEvil = regexp.MustCompile(`evil \d+`)

func newFlap(t *testing.T) *flap {
	t.Helper()
	f := &flap{times: make(map[string]int), begun: time.Now()}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		turn := time.Since(f.begun) / downFor
		f.mu.Lock()
		defer f.mu.Unlock()
		switch {
		case f.always || turn%2 == 1:
			f.times[numberedEvil.FindString(string(body))]++
			return
		case turn%4 == 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = conn.Close()
			}
		}
		f.refusals++
	}))
	t.Cleanup(f.Close)
	return f
}

// received is how often each result came, and how many were refused.
func (f *flap) received() (results, twice, refusals int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.times {
		twice += n - 1
	}
	return len(f.times), twice, f.refusals
}

// A sink that is down half of the time makes messages wait where they come from: none is
// lost, memory stays what it was, and none is delivered over and over.
func TestNothingIsLostAtASinkThatIsDownHalfOfTheTime(t *testing.T) {
	span := downSpan(t)
	for _, tc := range []struct {
		name string
		open func(t *testing.T) (input string, publish func(n int), again func(published int) int)
	}{
		{"NATS", func(t *testing.T) (string, func(int), func(int) int) {
			t.Helper()
			b := newBus(t, jetstream.ConsumerConfig{AckWait: downAckWait, MaxAckPending: downPending})
			return b.target + "?format=json", func(n int) { b.publish(numbered(n)) }, func(published int) int {
				return int(b.consumer().Delivered.Consumer) - published
			}
		}},
		{"Kafka", func(t *testing.T) (string, func(int), func(int) int) {
			t.Helper()
			c := kafkatest.Start(t, kfake.SeedTopics(1, "events"))
			cl := c.Client(kgo.DefaultProduceTopic("events"))
			t.Cleanup(cl.Close)
			publish := func(n int) { kafkatest.Produce(t, cl, "events", 0, []byte(numbered(n))) }
			return fmt.Sprintf("kafka://%s?format=json&group=g&pending=%d", c.Target("events"), downPending), publish, nil
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			input, publish, again := tc.open(t)
			f := newFlap(t)
			dir := t.TempDir()
			hook := write(t, dir, "hook.yml", fmt.Sprintf("webhooks:\n  - {id: h, kind: detection, url: %q, body: '{\"value\": ${detection.fields.C}}', retry: {attempts: 100000, backoff: 10ms, max_backoff: 100ms}}\n", f.URL))
			d := start(t, "-r", write(t, dir, "rules.yml", countingRules), "--input", input, "--webhook", hook, "--dlq", "file://"+dir+"/dead",
				"--sink-retry-max", "100000", "--sink-backoff-max-ms", "100", "--buffer-size", "50")
			before := d.resident()
			published := 0
			for begin := time.Now(); time.Since(begin) < span; published++ {
				publish(published)
				time.Sleep(2 * time.Millisecond) // a stream, not a heap
			}
			f.mu.Lock()
			f.always = true
			f.mu.Unlock()
			d.await("every result", func() bool { n, _, _ := f.received(); return n == published })
			redelivered := d.figures().processed - published
			if again != nil {
				redelivered = again(published)
			}
			peak := d.peak()
			d.stop()
			_, twice, refusals := f.received()
			t.Logf("%s: %d messages, %d refusals, %d results twice, %d redeliveries, %d MiB of memory at most, %d before",
				tc.name, published, refusals, twice, redelivered, peak>>20, before>>20)
			if refusals == 0 {
				t.Error("the sink never refused")
			}
			if redelivered > published/10+downPending {
				t.Errorf("%d redeliveries of %d messages, want few", redelivered, published)
			}
			if twice > redelivered {
				t.Errorf("%d results twice, of %d redeliveries", twice, redelivered)
			}
			if limit := before + standstillBeside; peak > limit && len(buildFlags) == 0 { // the race detector needs a multiple
				t.Errorf("%d MiB of memory, want at most %d", peak>>20, limit>>20)
			}
			if dead := output(filepath.Join(dir, "dead")).lines(); len(dead) > 0 {
				t.Errorf("%d dead letters, the first: %s", len(dead), dead[0])
			}
		})
	}
}
