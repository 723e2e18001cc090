package sink

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// rig is a sink with a dead letter queue over scripted transports.
type rig struct {
	system  *actors.System
	sink    *Sink
	dlq     *DLQ
	metrics *Metrics
	log     actorstest.Log
}

func newRig(t *testing.T, out, deadLetters *script, pretty bool) *rig {
	t.Helper()
	r := &rig{}
	var err error
	if r.metrics, err = NewMetrics(prometheus.NewRegistry()); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Label: "stdout", Kind: KindStdout, OnFull: Block, Transport: out, Retry: DefaultRetry(), BatchMax: 4, Capacity: 10,
		Pretty: pretty, Metrics: r.metrics, Log: r.log.Logger(),
	}
	r.system = actorstest.System(t, actors.Options{MaxRestarts: 10})
	if deadLetters != nil {
		r.dlq = NewDLQ(DLQOptions{Kind: KindFile, Transport: deadLetters, Retry: DefaultRetry(), BatchMax: 4, Capacity: 10, Metrics: r.metrics, Log: r.log.Logger()})
		o.DeadLetters = r.dlq.Lane()
		if _, err := r.system.Spawn(r.dlq.Cell(), r.dlq.Produce); err != nil {
			t.Fatal(err)
		}
	}
	if r.sink, err = New(o); err != nil {
		t.Fatal(err)
	}
	if _, err := r.system.Spawn(r.sink.Cell(), r.sink.Produce); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) wantMetrics(t *testing.T, retries, failures, deadLetters float64) {
	t.Helper()
	for _, m := range []struct {
		name string
		got  float64
		want float64
	}{
		{"retries", value(t, r.metrics.retries.WithLabelValues("stdout")), retries},
		{"failures", value(t, r.metrics.failures.WithLabelValues("stdout")), failures},
		{"dead letters", value(t, r.metrics.deadLetters), deadLetters},
	} {
		if m.got != m.want {
			t.Errorf("%s: got %g, want %g", m.name, m.got, m.want)
		}
	}
}

func value(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

func always(err error, n int) (answers []answer) {
	for range n {
		answers = append(answers, answer{err: err})
	}
	return answers
}

// incident is a record.
type incident string

func (i incident) AppendNative(dst []byte) []byte { return append(dst, i...) }
func (i incident) Kind() string                   { return "incident" }

func TestFailures(t *testing.T) {
	down := errors.New("disk full")
	for _, tc := range []struct {
		name              string
		answers           []answer
		noDLQ             bool
		deadLetters       []answer
		record            graph.Record
		retries, failures float64
		count             float64
		want              string // part of the dead letter
		settledAfter      time.Duration
	}{
		{
			name: "part 15 case 16 and part 22 case 14: always failing", answers: always(down, 4), retries: 3, failures: 1, count: 1,
			want:         `{"original_event":"[{\"n\":1},{\"n\":2}]","error":"sink delivery failure: I/O error: disk full",`,
			settledAfter: 700 * time.Millisecond,
		},
		{
			name: "part 22 case 15: without a dead letter queue", answers: always(down, 4), noDLQ: true, retries: 3, failures: 1,
			settledAfter: 700 * time.Millisecond,
		},
		{
			name: "part 15 case 24: an incident's dead letter is its native line", answers: always(down, 4), retries: 3, failures: 1, count: 1,
			record: incident(`{"incident_id":"i"}`), want: `{"original_event":"{\"incident_id\":\"i\"}",`,
			settledAfter: 700 * time.Millisecond,
		},
		{
			name: "only what was not delivered becomes a dead letter", answers: append([]answer{{take: 1, err: down}}, always(down, 3)...), retries: 3, failures: 1, count: 1,
			want: `{"original_event":"[{\"n\":2}]",`, settledAfter: 700 * time.Millisecond,
		},
		{
			name: "part 15 case 18: a permanent error parks one result", answers: []answer{{err: permanent{errors.New("too large")}}}, failures: 1, count: 1,
			want: `{"original_event":"[{\"n\":1}]","error":"sink delivery failure: permanent delivery failure: too large",`,
		},
		{
			name: "part 22 case 34a: the dead letter queue fails for good", answers: always(down, 4), deadLetters: always(down, 4), retries: 3, failures: 1, count: 1,
			settledAfter: 1400 * time.Millisecond,
		},
		{
			name: "an item that panics twice", answers: []answer{{panic: "boom"}, {panic: "boom"}}, failures: 1, count: 1,
			want: `"error":"sink delivery failure: panic: boom"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, dead := &script{t: t, answers: tc.answers, begin: time.Now()}, &script{t: t, answers: tc.deadLetters, begin: time.Now()}
				if tc.noDLQ {
					dead = nil
				}
				r := newRig(t, out, dead, false)
				begin, settled := time.Now(), []time.Duration{}
				receipt := graph.NewReceipt(1, func() { settled = append(settled, time.Since(begin)) })
				item := &graph.Item{Token: receipt.Token(0), Record: tc.record, Lines: [][]byte{[]byte("{\"n\":1}\n"), []byte("{\"n\":2}\n")}}
				if tc.record != nil {
					item.Lines = item.Lines[:1]
				}
				r.sink.Lane().TryPut([]*graph.Item{item})
				time.Sleep(time.Minute)
				synctest.Wait()
				r.wantMetrics(t, tc.retries, tc.failures, tc.count)
				if len(settled) != 1 || settled[0] != tc.settledAfter || receipt.Overdrawn() != 0 {
					t.Errorf("settled after %v (%d beyond), want once after %s", settled, receipt.Overdrawn(), tc.settledAfter)
				}
				if tc.want != "" && (len(dead.got) != 1 || !strings.Contains(dead.got[0], tc.want)) {
					t.Errorf("dead letters %q, want one with %s", dead.got, tc.want)
				}
				if tc.deadLetters != nil {
					if got := value(t, r.metrics.failures.WithLabelValues("dlq")); got != 1 {
						t.Errorf("failures of the dead letter queue: %g, want 1", got)
					}
				}
				if tc.noDLQ && len(r.log.Matching("delivery failed", "sink=stdout", "disk full")) != 1 {
					t.Error("no warning that names sink and cause")
				}
			})
		})
	}
}

func TestLostDeadLettersAreLoggedOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &script{t: t}, &script{t: t, answers: always(errors.New("disk full"), 12)}, false)
		for range 12 { // four at a time, three batches of four attempts
			r.dlq.Lane().TryPut([]graph.DeadLetter{{Original: []byte("x"), Error: "parse error", Stage: "parse"}})
			synctest.Wait()
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := value(t, r.metrics.failures.WithLabelValues("dlq")); got < 5 {
			t.Errorf("%g records were lost, want several", got)
		}
		if got := len(r.log.Matching("dead letter not written", "disk full")); got != 1 {
			t.Errorf("%d messages, want one in ten seconds", got)
		}
		r.system.Drain(t.Context())
		if got := r.log.Matching("further dead letters not written"); len(got) != 1 {
			t.Errorf("messages %q at the end, want one", got)
		}
	})
}

func TestTheEndTellsWhatWasKeptBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := permanent{errors.New("disk full")}
		r := newRig(t, &script{t: t, answers: always(full, 3)}, nil, false)
		for range 3 {
			r.sink.Lane().TryPut([]*graph.Item{{Lines: [][]byte{[]byte("{}\n")}}})
		}
		synctest.Wait()
		if got := len(r.log.Matching("further deliveries failed")); got > 0 {
			t.Error("told before the end")
		}
		r.system.Drain(t.Context())
		if len(r.log.Matching("delivery failed", "suppressed=0")) != 1 || len(r.log.Matching("further deliveries failed", "sink=stdout", "count=2")) != 1 {
			t.Errorf("messages %q, want one for the first failure and one for the two others", r.log.Matching("failed"))
		}
	})
}

func TestDetailShowsTheSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &script{t: t, answers: always(errors.New("x"), 1), begin: time.Now()}, &script{t: t}, false)
		r.sink.Dropped()
		r.sink.Lane().TryPut([]*graph.Item{{Lines: [][]byte{[]byte("{}\n")}}})
		time.Sleep(time.Second)
		got := r.system.Detail(t.Context(), "sink:stdout")
		if want := (Detail{SinkKind: "stdout", OnFull: "block", Retries: 1, Dropped: 1}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got, want := r.system.Detail(t.Context(), "dlq"), (Detail{SinkKind: "file", OnFull: "block"}); got != want {
			t.Errorf("dlq: got %+v, want %+v", got, want)
		}
	})
}

func TestPrettyIndentsResultsAndLeavesRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &raw{}
		r := newRig(t, &script{t: t}, nil, true)
		r.sink.retrier.transport = out
		r.sink.Lane().TryPut([]*graph.Item{
			{Lines: [][]byte{[]byte("{\"a\":1.0,\"b\":\"<\"}\n")}},
			{Record: incident("x"), Lines: [][]byte{[]byte("{\"incident_id\":\"i\"}\n")}},
		})
		synctest.Wait()
		if got, want := out.text, "{\n  \"a\": 1.0,\n  \"b\": \"<\"\n}\n{\"incident_id\":\"i\"}\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// raw keeps every byte.
type raw struct{ text string }

func (r *raw) Write(_ context.Context, lines [][]byte) (int, error) {
	for _, l := range lines {
		r.text += string(l)
	}
	return len(lines), nil
}
func (r *raw) Abandon()     {}
func (r *raw) Reopen()      {}
func (r *raw) Close() error { return nil }
