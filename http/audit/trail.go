package audit

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/internal/ratelog"
	"github.com/sluicehq/sluice/state"
)

// Name is the name of the actor that passes records on, and of the table of rows.
const Name = "audit"

// queueSize is how many records wait for the sink at most, unless configured otherwise.
const queueSize = 1024

// Rows is a table of the state database. *state.Table is one.
type Rows interface {
	Put(key, value []byte) error
	Get(key []byte) ([]byte, error)
	Delete(keys ...[]byte) error
	Walk(o state.Order, visit func(state.Row) bool) error
}

// Options describe a trail. All but Token are required.
type Options struct {
	Config   Config
	Rows     Rows
	Interval time.Duration // between two prunes
	Now      func() time.Time
	Metrics  *Metrics
	Log      *slog.Logger
	// Token names the token of a request, "" for a caller without one. Nil is nobody.
	Token func(*http.Request) string
}

// Trail is the audit trail. It is safe for concurrent use.
type Trail struct {
	o     Options
	warn  ratelog.Limit
	ended context.CancelFunc
	done  chan struct{}

	count atomic.Int64 // of the rows

	mu     sync.Mutex  // guards the rest, and the order of rows and of lines of the sink
	last   int64       // id
	oldest int64       // no row has an earlier time
	sink   *sink.Lines // nil without one
}

// Open opens the trail, removes what is too old or too much, and goes on doing so at
// each interval until Close.
func Open(o Options) (*Trail, error) {
	t := &Trail{o: o, oldest: math.MaxInt64, done: make(chan struct{})}
	switch stored, err := o.Rows.Get(lastKey); {
	case err == nil && len(stored) == 8:
		t.last = int64(binary.BigEndian.Uint64(stored))
	case err != nil && !errors.Is(err, state.ErrNone):
		return nil, fmt.Errorf("open audit trail: %w", err)
	}
	err := t.walk(state.Forward, func(id, ts int64, _ state.Row) bool {
		t.last, t.oldest = max(t.last, id), min(t.oldest, ts)
		t.count.Add(1)
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("open audit trail: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.ended = cancel
	t.prune()
	go t.run(ctx)
	return t, nil
}

// Feature is the row of the trail. Its sink belongs to the sinks.
func (t *Trail) Feature() actors.Feature { return actors.Feature{Name: Name, Close: t.Close} }

// Close ends the pruning.
func (t *Trail) Close() error {
	t.ended()
	<-t.done
	return nil
}

// Sink describes the sink that is configured, nil without one. Records are passed on to
// it from when it is ready.
func (t *Trail) Sink() (*sink.LineSink, error) {
	spec, _, err := t.o.Config.Spec()
	switch {
	case err != nil:
		return nil, fmt.Errorf("daemon.api.audit.sink: %w", err)
	case spec == nil:
		return nil, nil
	}
	return &sink.LineSink{Name: Name, About: Name, Spec: *spec, Capacity: queueSize, Lost: t.lost, Ready: t.feed}, nil
}

func (t *Trail) feed(s *sink.Lines) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sink = s
}

// record stores a record, under the next id and the time of now, and passes it on. It
// waits for the row and, where the sink wants it so, for room in the queue, until ctx
// ends.
func (t *Trail) record(ctx context.Context, r Record) {
	wait, err := t.store(r)
	if err != nil {
		t.fault("audit record not stored", err, "method", r.Method, "endpoint", r.Endpoint)
		return
	}
	wait(ctx)
}

func (t *Trail) store(r Record) (wait func(context.Context), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++ // also when storing fails, as the row may be there all the same
	r.ID, r.TS = t.last, t.o.Now().Unix()
	line, err := r.line()
	if err != nil {
		return nil, err
	}
	if err := t.o.Rows.Put(keyOf(r.ID, r.TS), line); err != nil {
		t.oldest = math.MinInt64 // have the next prune count
		return nil, err
	}
	t.count.Add(1)
	t.oldest = min(t.oldest, r.TS)
	t.o.Metrics.records.Inc()
	if t.sink == nil {
		return func(context.Context) {}, nil
	}
	return t.sink.Offer(line), nil
}

// lost counts a stored record that did not reach the sink.
func (t *Trail) lost(err error) { t.fault("audit record not passed to its sink", err) }

func (t *Trail) fault(text string, err error, attrs ...any) {
	t.o.Metrics.errors.Inc()
	if kept, ok := t.warn.Allow(text, 1, time.Now()); ok {
		t.o.Log.Warn(text, append(attrs, "err", err, "suppressed", kept)...)
	}
}

// Page returns a page of what q selects. It waits for no record that is being stored. The
// cause of an error is logged.
func (t *Trail) Page(q Query) (Page, error) {
	count := int(t.count.Load())
	p := Page{Entries: []Record{}}
	var failed error
	err := t.walk(state.Backward, func(_, ts int64, row state.Row) bool {
		if ts < q.Since || ts > q.Until {
			return true
		}
		p.Count++
		if p.Count <= q.Offset || len(p.Entries) == q.Limit {
			return !q.unfiltered() || len(p.Entries) < q.Limit // the rest is only counted, which nobody needs to do
		}
		var r Record
		value, err := row.Value()
		if err == nil {
			err = json.Unmarshal(value, &r)
		}
		failed = err
		p.Entries = append(p.Entries, r)
		return err == nil
	})
	if err = errors.Join(err, failed); err != nil {
		if kept, ok := t.warn.Allow("read", 1, time.Now()); ok { // what the client sees does not say it
			t.o.Log.Warn("audit trail cannot be read", "err", err, "suppressed", kept)
		}
		return Page{}, fmt.Errorf("read audit trail: %w", err)
	}
	if q.unfiltered() {
		p.Count = count
	}
	return p, nil
}

// walk visits the rows of records, in order of their ids.
func (t *Trail) walk(o state.Order, visit func(id, ts int64, r state.Row) bool) error {
	return t.o.Rows.Walk(o, func(r state.Row) bool {
		id, ts, ok := parseKey(r.Key())
		return !ok || visit(id, ts, r)
	})
}
