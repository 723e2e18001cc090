package sources

import (
	"context"
	"errors"
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
	messages chan any // a text or an error for the subscriber
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

func (w *world) Subscribe(ctx context.Context, d *fetch.Declaration, take func([]byte, error)) error {
	for {
		select {
		case m := <-w.messages:
			switch m := m.(type) {
			case string:
				take([]byte(m), nil)
			case error:
				take(nil, m)
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
	log      logbook
}

// logbook keeps what is logged.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
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

// stop ends the actor as a daemon does.
func (d *daemon) stop() {
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

func TestSourcesDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		all := manyDeclared(12)
		for _, s := range all {
			w.values[s.ID] = `1`
			w.takes[s.ID] = time.Second
		}
		w.takes["s0"] = 20 * time.Second
		d := spawn(t, w, append(all, declared("f", every(2*time.Second))))
		w.values["f"] = `1`
		d.begin()
		if took := time.Since(w.begun); took != 20*time.Second {
			t.Errorf("the start took %s, want that of the slowest", took)
		}
		if w.most != maxRunning {
			t.Errorf("%d fetches ran at once, want %d", w.most, maxRunning)
		}
		if got, err := d.Client().Resolve(t.Context(), "s0"); got != Accepted || err != nil {
			t.Fatalf("%s, %v", got, err)
		}
		time.Sleep(7 * time.Second)
		synctest.Wait()
		if got, want := w.began("f")[1:], []time.Duration{22 * time.Second, 24 * time.Second, 26 * time.Second}; !slices.Equal(got, want) {
			t.Errorf("beside a slow fetch the interval is fetched at %v, want %v", got, want)
		}
	})
}

func TestARefreshThatBringsAnotherValueIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values["f"] = `1`
		d := spawn(t, w, []*fetch.Declaration{declared("f", every(10*time.Second))})
		d.begin()
		if len(d.took()) != 0 || d.value("f") != `1` {
			t.Fatalf("after the start %v have changed, the value is %s", d.took(), d.value("f"))
		}
		time.Sleep(15 * time.Second)
		w.set("f", `2`)
		time.Sleep(10 * time.Second)
		w.set("f", "") // fails
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := d.took(); len(got) != 1 || !slices.Equal(got[0], []string{"f"}) || d.value("f") != `2` {
			t.Errorf("%v have changed, the value is %s", got, d.value("f"))
		}
		for _, want := range []string{
			`source_resolves_total{source_id="f",source_type="file"} 4`, `source_resolve_errors_total{error_kind="Fetch",source_id="f"} 1`,
			`source_cache_hits_total 1`, `source_last_resolved_timestamp{source_id="f"} 9.4668482e+08`,
			`source_resolve_seconds_bucket{le="0.01"} 4`, `source_resolve_seconds_bucket{le="10"} 4`,
		} {
			if got := d.scrape(); !strings.Contains(got, want+"\n") {
				t.Errorf("there is no %s in\n%s", want, got)
			}
		}
		if got, want := d.Feature().Status()[0].Value, (Status{1, 4, 1, 1}); got != want {
			t.Errorf("the status is %+v, want %+v", got, want)
		}
	})
}

func TestSeriesWithAnIDAppearWithTheirFirstEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := spawn(t, newWorld(), manyDeclared(2))
		families, err := d.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range families {
			names = append(names, f.GetName())
		}
		if want := []string{"source_cache_hits_total", "source_resolve_seconds"}; !slices.Equal(names, want) {
			t.Errorf("before the first fetch there are %v, want %v", names, want)
		}
	})
}

func TestMessagesReplaceTheValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values["f"] = "pending"
		nats := func(d *fetch.Declaration) { d.Type = fetch.NATS }
		d := spawn(t, w, []*fetch.Declaration{declared("f", nats, refreshed(fetch.Push))})
		d.begin()
		if got := d.value("f"); got != "" {
			t.Errorf("without a message the value is %s, want null", got)
		}
		w.messages <- `1`
		w.messages <- `1`
		w.messages <- &fetch.Error{Source: "f", Kind: fetch.Parse, Detail: "no JSON"}
		synctest.Wait()
		if got := d.took(); len(got) != 1 || d.value("f") != `1` || d.Client().Snapshot().Values()["f"].Remote != true {
			t.Errorf("%v have changed, the value is %s", got, d.value("f"))
		}
		if got, want := d.Feature().Status()[0].Value, (Status{1, 4, 1, 0}); got != want {
			t.Errorf("the status is %+v, want %+v", got, want)
		}
		if got, err := d.Client().Resolve(t.Context(), "f"); got != Accepted || err != nil {
			t.Fatalf("%s, %v", got, err)
		}
		synctest.Wait()
		if got := d.value("f"); got != `1` {
			t.Errorf("a fetch without a message makes it %s", got)
		}
		if text := d.log.String(); !strings.Contains(text, "its value stays") || !strings.Contains(text, "parse failed: no JSON") {
			t.Errorf("the log is\n%s", text)
		}
	})
}

func TestRequestsOverTheControlSubject(t *testing.T) {
	for _, tc := range []struct{ name, payload, want string }{
		{"an id", "a", "a"},
		{"an id with blanks around it", " a\r\n", "a"},
		{"an object", ` {"source_id":"b"} `, "b"},
		{"nothing", "", "a b"},
		{"an id that nobody declares", "nope", "a b"},
		{"an object with such an id", `{"source_id":"nope"}`, "a b"},
		{"no object", `["a"]`, "a b"},
		{"a value of another kind", `{"source_id":1}`, "a b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.values = map[string]string{"a": `1`, "b": `1`}
				d := spawn(t, w, []*fetch.Declaration{declared("a"), declared("b", refreshed(fetch.OnDemand))}, func(o *Options) { o.ControlServer = "nats://h:4222" })
				d.begin()
				w.takes = map[string]time.Duration{"a": time.Second, "b": time.Second}
				for range 3 {
					w.requests <- tc.payload
					synctest.Wait()
				}
				time.Sleep(time.Minute)
				for _, id := range []string{"a", "b"} {
					want := 1
					if strings.Contains(tc.want, id) {
						want = 2
						if !strings.Contains(tc.want, " ") {
							want = 3 // the two that came during the fetch share one
						}
					}
					if got := len(w.began(id)); got != want {
						t.Errorf("%s was fetched %d times, want %d", id, got, want)
					}
				}
			})
		})
	}
}

func TestRequestsForAllThatComeTooEarlyAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values = map[string]string{"a": `1`, "b": `1`}
		d := spawn(t, w, []*fetch.Declaration{declared("a"), declared("b")})
		d.begin()
		w.mu.Lock()
		w.takes = map[string]time.Duration{"a": time.Second, "b": 3 * time.Second}
		w.mu.Unlock()
		ask := func(id string, want Resolution) {
			t.Helper()
			if got, err := d.Client().Resolve(t.Context(), id); got != want || err != nil {
				t.Errorf("at %s: %s, %v, want %s", time.Since(w.begun), got, err, want)
			}
		}
		ask("a", Accepted)
		ask("", Accepted) // and a once more
		ask("", Pending)
		ask("a", Pending)
		time.Sleep(1500 * time.Millisecond) // a waits no more, it runs again
		ask("a", Pending)
		time.Sleep(time.Second)
		ask("a", Accepted)
		ask("", Pending) // for b
		time.Sleep(time.Second)
		ask("", Accepted)
		time.Sleep(time.Minute)
		if a, b := len(w.began("a")), len(w.began("b")); a != 5 || b != 3 {
			t.Errorf("a was fetched %d times and b %d times, want 5 and 3", a, b)
		}
	})
}

func TestAServerIsAskedForWhatIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values["f"], w.etag = `1`, "e1"
		d := spawn(t, w, []*fetch.Declaration{declared("f", every(10*time.Second))})
		d.begin()
		w.set("f", "") // so that only the validator answers
		time.Sleep(25 * time.Second)
		synctest.Wait()
		if d.value("f") != `1` || !slices.Equal(w.known, []string{"e1", "e1"}) {
			t.Errorf("the value is %s, the server was shown %v", d.value("f"), w.known)
		}
		if got, want := d.Feature().Status()[0].Value, (Status{1, 3, 0, 0}); got != want {
			t.Errorf("the status is %+v, want %+v", got, want)
		}
		if err := d.Client().Invalidate(t.Context(), "f"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(w.known) != 2 {
			t.Error("a value that was dropped is shown to the server")
		}
		if got := d.value("f"); got != `1` {
			t.Errorf("rules have lost their value: %s", got)
		}
	})
}

func TestAFetchThatPanicsIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values["f"] = `1`
		d := spawn(t, w, []*fetch.Declaration{declared("f", every(10*time.Second))})
		d.begin()
		w.set("f", "panic")
		time.Sleep(11 * time.Second)
		w.set("f", `2`)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := d.value("f"); got != `2` {
			t.Errorf("the value is %s", got)
		}
		if got := d.Feature().Status()[0].Value.(Status); got.Errors != 1 || got.CacheHits != 1 {
			t.Errorf("the status is %+v", got)
		}
	})
}

func TestTheEndCallsFetchesOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.values["f"] = `1`
		d := spawn(t, w, []*fetch.Declaration{declared("f", every(10*time.Second))})
		d.begin()
		w.mu.Lock()
		w.takes["f"] = time.Hour
		w.mu.Unlock()
		asked := make(chan error, 1)
		go func() {
			_, err := d.Client().Fetch(context.Background())
			asked <- err
		}()
		synctest.Wait()
		if got := d.system.Detail(t.Context(), Name); got != (Detail{1, 1}) {
			t.Errorf("the detail is %+v", got)
		}
		begin := time.Now()
		d.stop()
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("the end took %s", took)
		}
		if err := <-asked; !errors.Is(err, context.Canceled) {
			var unresolved *UnresolvedError
			if !errors.As(err, &unresolved) {
				t.Errorf("the round ends with %v", err)
			}
		}
		if n := d.Feature().Status()[0].Value.(Status).Errors; n != 0 {
			t.Errorf("%d errors are counted, want none", n)
		}
		time.Sleep(time.Hour)
		if n := len(w.began("f")); n != 2 {
			t.Errorf("%d fetches, want none after the end", n)
		}
	})
}

func TestTheListOfSources(t *testing.T) {
	d := spawnless([]*fetch.Declaration{
		declared("feed", func(d *fetch.Declaration) { d.Type = fetch.HTTP }, every(5*time.Minute)),
		declared("f", every(500*time.Millisecond), optional), declared("n", func(d *fetch.Declaration) { d.Type = fetch.NATS }, refreshed(fetch.Push)),
	})
	want := []Entry{
		{"feed", "external:sources.yml", "Http", "Interval(300s)", true},
		{"f", "external:sources.yml", "File", "Interval(500ms)", false},
		{"n", "external:sources.yml", "Nats", "Push", true},
	}
	if got := d.Client().List(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// spawnless is an actor that does not run.
func spawnless(declarations []*fetch.Declaration) *Stage {
	return New(Options{Declarations: declarations, Log: slog.New(slog.DiscardHandler)})
}
