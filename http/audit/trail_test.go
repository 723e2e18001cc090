package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/sigma/timespan"
	"github.com/sluicehq/sluice/state"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// patience bounds every wait; nothing is expected to take so long.
const patience = time.Minute

// rig is a trail over a real database.
type rig struct {
	*Trail
	dir   string
	store *state.Store
	reg   *prometheus.Registry
	log   *actorstest.Log
	now   int64 // Unix seconds
}

// open opens a trail in dir. adapt may change its options.
func open(t *testing.T, dir string, adapt ...func(*Options)) *rig {
	t.Helper()
	r := &rig{dir: dir, reg: prometheus.NewRegistry(), log: &actorstest.Log{}, now: 1_714_500_000}
	var err error
	if r.store, err = state.Open(dir, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	metrics, err := NewMetrics(r.reg, true)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Config: DefaultConfig(), Rows: r.store.Table(Name), Interval: time.Hour, Now: func() time.Time { return time.Unix(r.now, 5e8) },
		Metrics: metrics, Log: r.log.Logger(),
	}
	for _, f := range adapt {
		f(&o)
	}
	if r.Trail, err = Open(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.end(t) })
	return r
}

// end closes the trail and the database. Ending again does nothing.
func (r *rig) end(t *testing.T) {
	t.Helper()
	if err := errors.Join(r.Close(), r.store.Close()); err != nil {
		t.Error(err)
	}
}

// add records uses at the given times.
func (r *rig) add(at ...int64) {
	for _, ts := range at {
		r.now = ts
		r.record(context.Background(), Record{Method: "POST", Endpoint: "/x", Status: 200})
	}
}

// ids is the whole trail, newest first.
func (r *rig) ids(t *testing.T) string {
	t.Helper()
	q := All()
	q.Limit = 1000
	return fmt.Sprint(idsOf(r.page(t, q)))
}

func (r *rig) page(t *testing.T, q Query) Page {
	t.Helper()
	p, err := r.Page(q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func idsOf(p Page) (ids []int64) {
	for _, e := range p.Entries {
		ids = append(ids, e.ID)
	}
	return ids
}

// counts are the two series: records and errors.
func (r *rig) counts() string {
	var records, errs dto.Metric
	if err := errors.Join(r.o.Metrics.records.Write(&records), r.o.Metrics.errors.Write(&errs)); err != nil {
		return err.Error()
	}
	return fmt.Sprint(records.GetCounter().GetValue(), errs.GetCounter().GetValue())
}

func limits(maxEntries int, maxAge timespan.Duration) func(*Options) {
	return func(o *Options) { o.Config.MaxEntries, o.Config.MaxAge = maxEntries, maxAge }
}

func TestARecordLooksTheSameEverywhere(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	for _, tc := range []struct {
		name string
		r    Record
		want string
	}{
		{
			"with a token and no body",
			Record{42, 1714500000, "POST", "/api/v1/silences/{id}", "op", nil, 200},
			`{"id":42,"ts":1714500000,"method":"POST","endpoint":"/api/v1/silences/{id}","token":"op","payload_digest":null,"status":200}`,
		},
		{
			"without a token, with a body",
			Record{1, -1, "PATCH", "/api/v1/actors/{name}", "", &digest, 413},
			`{"id":1,"ts":-1,"method":"PATCH","endpoint":"/api/v1/actors/{name}","payload_digest":"` + digest + `","status":413}`,
		},
		{
			"the name of a token as it is written",
			Record{1, 1, "POST", "/x", "a<b>&\"c", nil, 200},
			`{"id":1,"ts":1,"method":"POST","endpoint":"/x","token":"a<b>&\"c","payload_digest":null,"status":200}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := tc.r.line(); err != nil || string(got) != tc.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tc.want)
			}
		})
	}
}

func TestPagesShowTheNewestFirst(t *testing.T) {
	r := open(t, t.TempDir(), limits(100, 1<<62))
	r.add(-50, 100, 200, 300, 300)
	at := func(limit, offset int, since, until any) Query {
		q := All()
		q.Limit, q.Offset = limit, offset
		if since != nil {
			q.Since = int64(since.(int))
		}
		if until != nil {
			q.Until = int64(until.(int))
		}
		return q
	}
	for _, tc := range []struct {
		name  string
		q     Query
		count int
		want  string
	}{
		{"everything", at(100, 0, nil, nil), 5, "[5 4 3 2 1]"},
		{"a page counts all of it", at(2, 0, nil, nil), 5, "[5 4]"},
		{"the next page", at(2, 2, nil, nil), 5, "[3 2]"},
		{"the last page", at(2, 4, nil, nil), 5, "[1]"},
		{"behind the end", at(2, 9, nil, nil), 5, "[]"},
		{"a page of none counts", at(0, 0, nil, nil), 5, "[]"},
		{"from a time on", at(1, 0, 200, nil), 3, "[5]"},
		{"up to a time", at(9, 0, nil, 200), 3, "[3 2 1]"},
		{"both bounds are included", at(9, 0, 100, 200), 2, "[3 2]"},
		{"offset counts what is selected", at(9, 1, 100, 200), 2, "[2]"},
		{"negative times", at(9, 0, -50, -50), 1, "[1]"},
		{"bounds that select nothing", at(9, 0, 301, 300), 0, "[]"},
		{"a selection without a page", at(0, 0, 100, nil), 4, "[]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := r.page(t, tc.q)
			if got := fmt.Sprint(idsOf(p)); got != tc.want || p.Count != tc.count {
				t.Errorf("ids %s of %d, want %s of %d", got, p.Count, tc.want, tc.count)
			}
			if raw, err := json.Marshal(p); err != nil || !strings.Contains(string(raw), `"entries":[`) {
				t.Errorf("a page is %s, %v, want a list of entries", raw, err)
			}
		})
	}
}

func TestThreeRowsAndABoundGiveTheNewest(t *testing.T) {
	r := open(t, t.TempDir(), limits(100, 1<<62))
	r.add(100, 200, 300)
	p := r.page(t, Query{Limit: 1, Since: 200, Until: 1 << 62})
	if p.Count != 2 || len(p.Entries) != 1 || p.Entries[0].TS != 300 {
		t.Errorf("got %+v, want a count of 2 and the entry of 300", p)
	}
}

func TestPruningKeepsTheBounds(t *testing.T) {
	for _, tc := range []struct {
		name  string
		limit func(*Options)
		rows  []int64 // times
		now   int64
		want  string
		next  int64
	}{
		{"the lowest ids go first", limits(2, 1<<62), []int64{1, 2, 3, 4, 5}, 5, "[5 4]", 6},
		{"none is kept", limits(0, 1<<62), []int64{1, 2, 3}, 3, "[]", 4},
		{"what is exactly as old as allowed stays", limits(9, timespan.Seconds(100)), []int64{99, 100, 101}, 200, "[3 2]", 4},
		{"all are too old", limits(9, timespan.Seconds(100)), []int64{1, 2}, 500, "[]", 3},
		{"age first, then number", limits(2, timespan.Seconds(100)), []int64{1, 150, 160, 170}, 200, "[4 3]", 5},
		{"a clock that was ahead shields nobody behind it", limits(9, timespan.Seconds(100)), []int64{900, 10, 190}, 200, "[3 1]", 4},
		{"the newest goes by its own time", limits(9, timespan.Seconds(100)), []int64{190, 10}, 200, "[1]", 3},
		{"nothing to do", limits(9, timespan.Seconds(100)), []int64{150, 200}, 200, "[2 1]", 3},
		{"no age is too long", limits(9, 1<<63-1), []int64{-1 << 30, 200}, 200, "[2 1]", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, dir, tc.limit)
			r.add(tc.rows...)
			r.now = tc.now
			r.prune()
			if got := r.ids(t); got != tc.want {
				t.Errorf("left %s, want %s", got, tc.want)
			}
			if p := r.page(t, All()); p.Count != strings.Count(tc.want, " ")+min(1, len(tc.want)-2) {
				t.Errorf("count %d for %s", p.Count, tc.want)
			}
			r.end(t)
			r = open(t, dir, limits(100, 1<<62)) // ids go on in another life
			r.add(tc.now)
			q := All()
			q.Limit = 1
			if got := r.page(t, q).Entries[0].ID; got != tc.next {
				t.Errorf("the next id is %d, want %d", got, tc.next)
			}
			r.end(t)
		})
	}
}

func TestTheStartPrunes(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	r.add(r.now, r.now+1, r.now+2)
	r.end(t)
	r = open(t, dir, limits(1, timespan.Day))
	if got := r.ids(t); got != "[3]" {
		t.Errorf("left %s, want [3]", got)
	}
}

// watched tells of what is done to rows.
type watched struct {
	*state.Table
	put     func(key []byte) error
	deleted chan int
}

func (w *watched) Put(key, value []byte) error {
	if w.put != nil {
		if err := w.put(key); err != nil {
			return err
		}
	}
	return w.Table.Put(key, value)
}

func (w *watched) Delete(keys ...[]byte) error {
	err := w.Table.Delete(keys...)
	select {
	case w.deleted <- len(keys):
	default: // nobody has looked yet, or ever will
	}
	return err
}

func TestEachIntervalPrunes(t *testing.T) {
	deleted := make(chan int, 1)
	r := open(t, t.TempDir(), limits(1, timespan.Day), func(o *Options) {
		o.Rows, o.Interval = &watched{Table: o.Rows.(*state.Table), deleted: deleted}, time.Millisecond
	})
	for range 3 {
		for range 2 {
			r.record(t.Context(), Record{Method: "POST", Endpoint: "/x", Status: 200})
		}
		select {
		case <-deleted:
		case <-time.After(patience):
			t.Fatal("nothing was pruned")
		}
	}
}

func TestAHundredThousandRowsArePruned(t *testing.T) {
	const rows, kept = 100_000, 10_000
	dir := t.TempDir()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	batch := db.NewWriteBatch()
	for id := int64(1); id <= rows; id++ {
		r := Record{ID: id, TS: 1_714_400_000 + id, Method: "POST", Endpoint: "/api/v1/silences", Status: 201}
		line, err := r.line()
		if err == nil {
			err = batch.Set(append([]byte("r/audit/"), keyOf(r.ID, r.TS)...), line)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(batch.Flush(), db.Close()); err != nil {
		t.Fatal(err)
	}

	r := open(t, dir, limits(rows, 30*timespan.Day))
	if p := r.page(t, Query{Limit: 1, Offset: rows - 1, Since: -1 << 63, Until: 1<<63 - 1}); p.Count != rows || p.Entries[0].ID != 1 {
		t.Fatalf("got %d rows ending in %v, want %d ending in 1", p.Count, p.Entries, rows)
	}
	if p := r.page(t, Query{Limit: 2, Since: 1_714_400_001, Until: 1_714_450_000}); p.Count != 50_000 || fmt.Sprint(idsOf(p)) != "[50000 49999]" {
		t.Errorf("half of the rows: %d, %v", p.Count, idsOf(p))
	}
	r.now = 1_714_500_000
	r.add(r.now)
	r.prune() // one too many
	if p := r.page(t, All()); p.Count != rows {
		t.Errorf("%d rows, want %d", p.Count, rows)
	}
	r.end(t)

	r = open(t, dir, limits(kept, 30*timespan.Day))
	p := r.page(t, Query{Limit: 1000, Offset: kept - 1, Since: -1 << 63, Until: 1<<63 - 1})
	if want := fmt.Sprint([]int64{rows + 2 - kept}); p.Count != kept || fmt.Sprint(idsOf(p)) != want {
		t.Errorf("%d rows ending in %v, want %d ending in %s", p.Count, idsOf(p), kept, want)
	}
	r.end(t)

	r = open(t, dir, limits(kept, timespan.Seconds(1)))
	r.now += 10
	r.prune()
	r.add(r.now)
	if got, want := r.ids(t), fmt.Sprint([]int64{rows + 2}); got != want {
		t.Errorf("left %s, want %s", got, want)
	}
}

func TestARowThatIsNotStoredChangesNothingForTheClient(t *testing.T) {
	full := errors.New("disk full")
	var fails error
	r := open(t, t.TempDir(), func(o *Options) {
		o.Rows = &watched{Table: o.Rows.(*state.Table), put: func([]byte) error { return fails }}
	})
	h := r.Wrap("/x", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }))
	serve := func() int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/x", nil))
		return w.Code
	}
	serve()
	fails = full
	for range 3 {
		if got := serve(); got != http.StatusCreated {
			t.Errorf("answered %d, want 201 all the same", got)
		}
	}
	fails = nil
	serve()
	if got := r.counts(); got != "2 3" {
		t.Errorf("records and errors %s, want 2 3", got)
	}
	if got := r.ids(t); got != "[5 1]" {
		t.Errorf("ids %s, want [5 1]: one that failed may be on the disk, and is not given again", got)
	}
	if lines := r.log.Matching("audit record not stored", "disk full"); len(lines) != 1 {
		t.Errorf("logged %q, want one line for all three", lines)
	}
}

func TestAPruneThatFailsIsCountedAndTriedAgain(t *testing.T) {
	var fails error
	r := open(t, t.TempDir(), limits(1, timespan.Day), func(o *Options) {
		o.Rows = &watched{Table: o.Rows.(*state.Table), put: func(key []byte) error {
			if bytes.Equal(key, lastKey) {
				return fails
			}
			return nil
		}}
	})
	r.add(r.now, r.now)
	fails = errors.New("disk full")
	r.prune()
	if got := r.counts() + r.ids(t); got != "2 1[2 1]" {
		t.Errorf("got %s, want an error and both rows", got)
	}
	if lines := r.log.Matching("audit trail not pruned", "disk full"); len(lines) != 1 {
		t.Errorf("logged %q, want one line", lines)
	}
	fails = nil
	r.prune()
	if got := r.ids(t); got != "[2]" {
		t.Errorf("left %s, want [2]", got)
	}
}

func TestAClosedStoreIsNoFaultOfThePrune(t *testing.T) {
	r := open(t, t.TempDir(), limits(0, timespan.Day))
	r.add(r.now)
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	r.prune()
	if got := r.counts(); got != "1 0" {
		t.Errorf("records and errors %s, want 1 0", got)
	}
	if _, err := r.Page(All()); err == nil {
		t.Error("a page of a closed store was read")
	}
}

func TestADamagedRowIsAnError(t *testing.T) {
	r := open(t, t.TempDir())
	r.add(r.now)
	if err := r.store.Table(Name).Put(keyOf(2, r.now), []byte("{")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Page(Query{Limit: 1, Since: 0, Until: 1 << 62}); err == nil || !strings.HasPrefix(err.Error(), "read audit trail: ") {
		t.Errorf("got %v, want an error", err)
	}
}

func TestRecordsReachTheSinkInOrder(t *testing.T) {
	to := &sinktest.Recorder{}
	r := open(t, t.TempDir())
	lines := sink.NewLines(sink.LinesOptions{
		Name: Name, About: Name, Kind: sink.KindFile, OnFull: sink.Block, Transport: to, Retry: sink.DefaultRetry(), BatchMax: 4, Capacity: 2,
		Lost: r.lost, Log: r.log.Logger(),
	})
	system := actorstest.System(t, actors.Options{MaxRestarts: 10})
	if _, err := system.Spawn(lines.Cell(), lines.Produce); err != nil {
		t.Fatal(err)
	}
	r.feed(lines)
	const requests = 200
	var wg sync.WaitGroup
	for range requests {
		wg.Go(func() { r.record(t.Context(), Record{Method: "POST", Endpoint: "/x", Status: 200}) })
	}
	wg.Wait()
	system.DrainControl(t.Context())
	q := All()
	q.Limit = 1000
	var want []string
	for _, e := range slices.Backward(r.page(t, q).Entries) {
		line, err := e.line()
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(line))
	}
	if got := to.Lines(); len(want) != requests || !slices.Equal(got, want) {
		t.Errorf("%d lines reached the sink, want the %d entries in the order of their ids:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	r.add(r.now) // the sink has ended
	if got := r.counts(); got != fmt.Sprint(requests+1, 1) {
		t.Errorf("records and errors %s, want %d 1", got, requests+1)
	}
}

func TestTheSinkIsAsConfigured(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       sink.OnFull
	}{
		{"a full queue drops", "file:///var/log/audit", sink.Drop},
		{"unless it shall block", "file:///var/log/audit?on_full=block", sink.Block},
		{"or drop", "stdout?on_full=drop", sink.Drop},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := open(t, t.TempDir(), func(o *Options) { o.Config.Sink = tc.text })
			got, err := r.Sink()
			if err != nil || got == nil || got.Spec.OnFull != tc.want || got.Capacity != 1024 || got.Name != "audit" {
				t.Errorf("got %+v, %v, want a queue of 1024 that does %s", got, err, tc.want)
			}
		})
	}
	if got, err := open(t, t.TempDir()).Sink(); err != nil || got != nil {
		t.Errorf("without a sink: %v, %v", got, err)
	}
}

func TestTheTrailIsOnWithAStateDatabase(t *testing.T) {
	yes, no := true, false
	for _, tc := range []struct {
		name     string
		enabled  *bool
		database bool
		want     bool
	}{
		{"by default, with one", nil, true, true},
		{"by default, without one", nil, false, false},
		{"switched off", &no, true, false},
		{"switched on", &yes, true, true},
		{"switched on without one", &yes, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (Config{Enabled: tc.enabled}).On(tc.database); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

func TestSettingsOfTheSinkAreChecked(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"none", "", ""},
		{"a file", "file:///var/log/audit", ""},
		{"a format", "file:///var/log/audit?format=ndjson", "sink: sink 'file:///var/log/audit?format=ndjson': format= is only supported on findings sinks"},
		{"no kind of sink", "kafka://x", "sink: Unsupported output sink 'kafka://x'"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			Config{Sink: tc.text}.Validate(func(key string, err error) { got = append(got, key+": "+err.Error()) })
			if text := strings.Join(got, "\n"); !strings.HasPrefix(text, tc.want) || (text == "") != (tc.want == "") {
				t.Errorf("got %q, want %q", text, tc.want)
			}
		})
	}
}

func TestSeriesOfATrailThatIsOff(t *testing.T) {
	reg := prometheus.NewRegistry()
	if _, err := NewMetrics(reg, false); err != nil {
		t.Fatal(err)
	}
	all, err := reg.Gather()
	if err != nil || len(all) != 1 || all[0].GetName() != "audit_write_errors_total" {
		t.Errorf("got %v, %v, want the errors alone", all, err)
	}
}

// stuck is a destination that takes nothing until it is let go.
type stuck struct {
	sinktest.Recorder
	free chan struct{}
}

func (s *stuck) Write(ctx context.Context, messages []graph.Message) (int, error) {
	select {
	case <-s.free:
		return s.Recorder.Write(ctx, messages)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// With on_full=block an answer waits for room in the queue, but its row does not, and
// neither do those who read.
func TestASinkThatBlocksHoldsAnswersAndNotRows(t *testing.T) {
	to := &stuck{free: make(chan struct{})}
	r := open(t, t.TempDir())
	lines := sink.NewLines(sink.LinesOptions{
		Name: Name, About: Name, Kind: sink.KindFile, OnFull: sink.Block, Transport: to, Retry: sink.DefaultRetry(), BatchMax: 1, Capacity: 1,
		Lost: r.lost, Log: r.log.Logger(),
	})
	system := actorstest.System(t, actors.Options{MaxRestarts: 10})
	if _, err := system.Spawn(lines.Cell(), lines.Produce); err != nil {
		t.Fatal(err)
	}
	r.feed(lines)
	const requests = 5 // of which two find room
	answered := make(chan struct{}, requests)
	for range requests {
		go func() {
			r.record(t.Context(), Record{Method: "POST", Endpoint: "/x", Status: 200})
			answered <- struct{}{}
		}()
	}
	begin := time.Now()
	for r.page(t, All()).Count < requests {
		if time.Since(begin) > patience {
			t.Fatal("rows wait for the sink")
		}
	}
	r.prune()
	close(to.free)
	for range requests {
		<-answered
	}
	system.DrainControl(t.Context())
	if got := to.Lines(); len(got) != requests || r.counts() != fmt.Sprint(requests, 0) {
		t.Errorf("%d lines, %s, want %d and no error", len(got), r.counts(), requests)
	}
}

func TestADiskThatHangsHoldsNoReader(t *testing.T) {
	hangs, free := make(chan struct{}), make(chan struct{})
	var wait bool
	r := open(t, t.TempDir(), func(o *Options) {
		o.Rows = &watched{Table: o.Rows.(*state.Table), put: func([]byte) error {
			if wait {
				close(hangs)
				<-free
			}
			return nil
		}}
	})
	r.add(r.now)
	wait = true
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.record(context.Background(), Record{Method: "POST", Endpoint: "/x", Status: 200})
	}()
	<-hangs
	if got := r.ids(t); got != "[1]" {
		t.Errorf("read %s, want [1]", got)
	}
	close(free)
	<-done
	if got := r.ids(t); got != "[2 1]" {
		t.Errorf("read %s, want [2 1]", got)
	}
}
