package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/sluicehq/sluice/actors/actorstest"
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
