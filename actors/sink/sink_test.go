package sink

import (
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
	"github.com/sluicehq/sluice/graph/step"
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

func newRig(t *testing.T, out, deadLetters *script) *rig {
	t.Helper()
	return newRigOver(t, KindStdout, out, deadLetters)
}

// newRigOver has a sink of a kind over a transport. Its label is "out", or "stdout".
func newRigOver(t *testing.T, kind Kind, out Transport, deadLetters *script) *rig {
	t.Helper()
	r := &rig{}
	label := "out"
	if _, plain := out.(*script); plain {
		label = "stdout"
	}
	var err error
	if r.metrics, err = NewMetrics(prometheus.NewRegistry()); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Label: label, Kind: kind, OnFull: Block, Form: step.Native{}, Transport: out, Retry: unscaled(), BatchMax: 4, Capacity: 10,
		Metrics: r.metrics, Log: r.log.Logger(),
	}
	r.system = actorstest.System(t, actors.Options{MaxRestarts: 10})
	if deadLetters != nil {
		r.dlq = NewDLQ(DLQOptions{Kind: KindFile, Transport: deadLetters, Retry: unscaled(), BatchMax: 4, Capacity: 10, Metrics: r.metrics, Log: r.log.Logger()})
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
func (i incident) Kind() graph.Kind               { return "incident" }

func messages(bodies ...string) (out []graph.Message) {
	for _, b := range bodies {
		out = append(out, graph.Message{Body: []byte(b)})
	}
	return out
}

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
			name: "always failing", answers: always(down, 4), retries: 3, failures: 1, count: 1,
			want:         `{"original_event":"[{\"n\":1},{\"n\":2}]","error":"sink delivery failure: I/O error: disk full",`,
			settledAfter: 700 * time.Millisecond,
		},
		{
			name: "without a dead letter queue", answers: always(down, 4), noDLQ: true, retries: 3, failures: 1,
			settledAfter: 700 * time.Millisecond,
		},
		{
			name: "an incident's dead letter is its native line", answers: always(down, 4), retries: 3, failures: 1, count: 1,
			record: incident(`{"incident_id":"i"}`), want: `{"original_event":"{\"incident_id\":\"i\"}",`,
			settledAfter: 700 * time.Millisecond,
		},
		{
			name: "only what was not delivered becomes a dead letter", answers: append([]answer{{take: 1, err: down}}, always(down, 3)...), retries: 3, failures: 1, count: 1,
			want: `{"original_event":"[{\"n\":2}]",`, settledAfter: 700 * time.Millisecond,
		},
		{
			name: "a permanent error parks one result", answers: []answer{{err: permanent{errors.New("too large")}}}, failures: 1, count: 1,
			want: `{"original_event":"[{\"n\":1}]","error":"sink delivery failure: permanent delivery failure: too large",`,
		},
		{
			name: "the dead letter queue fails for good", answers: always(down, 4), deadLetters: always(down, 4), retries: 3, failures: 1, count: 1,
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
				r := newRig(t, out, dead)
				begin, settled := time.Now(), []time.Duration{}
				receipt := graph.NewReceipt(1, func() { settled = append(settled, time.Since(begin)) })
				rendered := graph.Rendered{Token: receipt.Token(0), Record: tc.record, Messages: messages(`{"n":1}`, `{"n":2}`)}
				if tc.record != nil {
					rendered.Messages = rendered.Messages[:1]
				}
				r.sink.Lane().TryPut([]*graph.Bundle{graph.Alone(rendered, 1)})
				time.Sleep(time.Minute)
				synctest.Wait()
				r.wantMetrics(t, tc.retries, tc.failures, tc.count)
				wantDead, wantDropped := int64(1), int64(0)
				if tc.noDLQ || tc.deadLetters != nil {
					wantDead, wantDropped = 0, 1
				}
				if dead, dropped, lost := (&Outputs{Sinks: []*Sink{r.sink}, DLQ: r.dlq}).Totals(); dead != wantDead || dropped != wantDropped || lost != wantDropped {
					t.Errorf("%d dead letters, %d dropped and %d lost, want %d, %d and %[5]d", dead, dropped, lost, wantDead, wantDropped)
				}
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
				if tc.noDLQ && len(r.log.Matching("level=WARN", "delivery failed", "sink=stdout", "disk full", "--dlq")) != 1 {
					t.Error("no warning that names sink, cause and what to do")
				}
			})
		})
	}
}

func TestLostDeadLettersAreLoggedOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &script{t: t}, &script{t: t, answers: always(errors.New("disk full"), 12)})
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
		r := newRig(t, &script{t: t, answers: always(full, 3)}, nil)
		for range 3 {
			r.sink.Lane().TryPut([]*graph.Bundle{graph.Alone(graph.Rendered{Messages: messages(`{}`)}, 1)})
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

func TestWhatADestinationKeptOnlyInPartIsCountedAndToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remark := answer{take: 1, err: errors.New("1 of 1 too old")}
		r := newRig(t, &script{t: t, answers: []answer{remark, remark, remark}, begin: time.Now()}, &script{t: t, answers: []answer{remark}})
		for range 3 {
			r.sink.Lane().TryPut([]*graph.Bundle{graph.Alone(graph.Rendered{Messages: messages(`{}`)}, 1)})
		}
		time.Sleep(time.Second)
		r.wantMetrics(t, 0, 3, 0)
		if got := r.log.Matching("delivered in part", "sink=stdout", "1 of 1 too old"); len(got) != 1 {
			t.Errorf("told %q, want one", got)
		}
		r.dlq.Lane().TryPut([]graph.DeadLetter{{Stage: "parse"}})
		time.Sleep(time.Second)
		if n := value(t, r.metrics.failures.WithLabelValues(labelDLQ)); n != 1 || len(r.log.Matching("dead letters written in part", "1 of 1 too old")) != 1 {
			t.Errorf("the dead letter queue counted %g and told %q, want one of each", n, r.log.Matching("in part"))
		}
		r.system.Drain(t.Context())
		if got := r.log.Matching("further deliveries in part", "count=2"); len(got) != 1 {
			t.Errorf("told %q at the end, want the two that were kept back", r.log.Matching("in part"))
		}
	})
}

func TestDetailShowsTheSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &script{t: t, answers: always(errors.New("x"), 1), begin: time.Now()}, &script{t: t})
		r.sink.Dropped()
		r.sink.Lane().TryPut([]*graph.Bundle{graph.Alone(graph.Rendered{Messages: messages(`{}`)}, 1)})
		time.Sleep(time.Second)
		got := r.system.Detail(t.Context(), "sink:stdout")
		if want := (Detail{SinkKind: "stdout", OnFull: "block", Retries: 1, Dropped: 1}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if dead, dropped, lost := (&Outputs{Sinks: []*Sink{r.sink}, DLQ: r.dlq}).Totals(); dead != 0 || dropped != 1 || lost != 0 {
			t.Errorf("%d dead letters and %d dropped, want 0 and 1", dead, dropped)
		}
		if got, want := r.system.Detail(t.Context(), "dlq"), (Detail{SinkKind: "file", OnFull: "block"}); got != want {
			t.Errorf("dlq: got %+v, want %+v", got, want)
		}
	})
}
