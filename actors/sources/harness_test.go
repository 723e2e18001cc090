package sources

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/internal/logtest"
	"github.com/sluicehq/sluice/sources/fetch"
)

// world is where sources are: it decides what fetches come to and how long they take.
type world struct {
	mu       sync.Mutex
	values   map[string]string // "" fails
	takes    map[string]time.Duration
	times    map[string][]time.Duration // when fetches began
	known    []string                   // ETags that fetches had
	etag     string                     // of all values
	running  int
	most     int
	begun    time.Time
	messages chan any // a text, an error or more for the subscriber
	requests chan string
	closed   bool
}

func newWorld() *world {
	return &world{
		values: map[string]string{}, takes: map[string]time.Duration{}, times: map[string][]time.Duration{}, begun: time.Now(),
		messages: make(chan any), requests: make(chan string),
	}
}

func (w *world) set(id, value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.values[id] = value
}

func (w *world) Fetch(ctx context.Context, d *fetch.Declaration, known *fetch.Validators) (fetch.Value, error) {
	w.mu.Lock()
	w.times[d.ID] = append(w.times[d.ID], time.Since(w.begun))
	w.running++
	w.most = max(w.most, w.running)
	takes, value, etag := w.takes[d.ID], w.values[d.ID], w.etag
	if known != nil {
		w.known = append(w.known, known.ETag)
	}
	w.mu.Unlock()
	defer func() { w.mu.Lock(); w.running--; w.mu.Unlock() }()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return fetch.Value{}, &fetch.Error{Source: d.ID, Kind: fetch.Fetch}
	}
	switch {
	case value == "panic":
		panic("boom")
	case known != nil && known.ETag == etag:
		return fetch.Value{NotModified: true}, nil
	case value == "pending":
		return fetch.Value{Pending: true}, nil
	case value == "":
		return fetch.Value{}, &fetch.Error{Source: d.ID, Kind: fetch.Fetch, Detail: "no route"}
	}
	return fetch.Value{JSON: []byte(value), Validators: fetch.Validators{ETag: etag}}, nil
}

func (w *world) Subscribe(ctx context.Context, d *fetch.Declaration, take func(fetch.Pushed)) error {
	for {
		select {
		case m := <-w.messages:
			switch m := m.(type) {
			case string:
				take(fetch.Pushed{JSON: []byte(m), Values: 1})
			case *fetch.Error:
				take(fetch.Pushed{Failed: map[fetch.ErrorKind]int{m.Kind: 1}, Err: m})
			case fetch.Pushed:
				take(m)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (w *world) Control(ctx context.Context, _, _ string, take func([]byte)) error {
	for {
		select {
		case text := <-w.requests:
			take([]byte(text))
		case <-ctx.Done():
			return nil
		}
	}
}

func (w *world) Close() { w.mu.Lock(); defer w.mu.Unlock(); w.closed = true }

// began are the times at which fetches of a source began.
func (w *world) began(id string) []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.times[id])
}

// daemon is a running actor.
type daemon struct {
	*Stage
	t        *testing.T
	w        *world
	system   *actors.System
	registry *prometheus.Registry
	mu       sync.Mutex
	changed  [][]string
	log      logtest.Buffer
	stopped  bool
}

func spawn(t *testing.T, w *world, declarations []*fetch.Declaration, change ...func(*Options)) *daemon {
	t.Helper()
	d := &daemon{t: t, w: w, registry: prometheus.NewRegistry()}
	metrics, err := NewMetrics(d.registry)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Declarations: declarations, Fetcher: w, Metrics: metrics, Log: slog.New(slog.NewTextHandler(&d.log, nil)),
		Changed: func(ids []string) { d.mu.Lock(); d.changed = append(d.changed, ids); d.mu.Unlock() },
	}
	for _, f := range change {
		f(&o)
	}
	d.Stage = New(o)
	d.system = actors.NewSystem(actors.Options{MaxRestarts: 10})
	if _, err := d.system.Spawn(d.Cell(), d.Produce); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.stop)
	return d
}

// stop ends the actor as a daemon does, once.
func (d *daemon) stop() {
	if d.stopped {
		return
	}
	d.stopped = true
	now, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.system.DrainActor(now, Name); err != nil {
		d.t.Error(err)
	}
	if err := d.Close(context.Background()); err != nil {
		d.t.Error(err)
	}
	if err := d.system.Stop(context.Background()); err != nil {
		d.t.Error(err)
	}
	if !d.w.closed {
		d.t.Error("the fetcher is not closed")
	}
}

// begin is the start: a round that counts, and then the timers.
func (d *daemon) begin() {
	d.t.Helper()
	r, err := d.Client().Fetch(d.t.Context())
	if err == nil {
		err = r.Commit(d.t.Context())
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.Begin()
	synctest.Wait()
}

func (d *daemon) value(id string) string { return string(d.Client().Snapshot().Values()[id].JSON) }

func (d *daemon) took() [][]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.changed)
}

// scrape is what a scrape shows.
func (d *daemon) scrape() string {
	d.t.Helper()
	families, err := d.registry.Gather()
	if err != nil {
		d.t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			d.t.Fatal(err)
		}
	}
	return text.String()
}

// spawnless is an actor that does not run.
func spawnless(declarations []*fetch.Declaration) *Stage {
	return New(Options{Declarations: declarations, Log: slog.New(slog.DiscardHandler)})
}
