package sink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/graph"
)

// script is a transport that plays the given answers, then takes everything.
type script struct {
	t       *testing.T
	answers []answer
	got     []string
	calls   []time.Duration // since the beginning
	begin   time.Time
	abandon int
}

type answer struct {
	take  int
	err   error
	panic string
	hang  bool            // until the context ends
	stuck <-chan struct{} // until it is closed, whatever ends
}

func (s *script) Write(ctx context.Context, messages []graph.Message) (int, error) {
	s.calls = append(s.calls, time.Since(s.begin))
	if len(s.answers) == 0 {
		s.take(messages)
		return len(messages), nil
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	s.take(messages[:a.take])
	if a.hang {
		<-ctx.Done()
		return a.take, cmp.Or(a.err, ctx.Err())
	}
	if a.stuck != nil {
		<-a.stuck
	}
	if a.panic != "" {
		panic(a.panic)
	}
	return a.take, a.err
}

func (s *script) take(messages []graph.Message) {
	for i := range messages {
		s.got = append(s.got, string(messages[i].Body))
	}
}

func (s *script) Abandon()     { s.abandon++ }
func (s *script) Reopen()      {}
func (s *script) Close() error { return nil }

type permanent struct{ error }

func (permanent) Permanent() bool { return true }

// collective is a permanent error about several messages.
type collective struct {
	permanent
	n int
}

func (c collective) Messages() int { return c.n }

// partly is an error that knows which messages behind the first one were taken.
type partly struct {
	error
	taken []int
}

func (p partly) Unwrap() error { return p.error }

func (p partly) Confirmed(i int) bool { return slices.Contains(p.taken, i) }

type patient struct {
	error
	after time.Duration
}

func (p patient) RetryAfter() time.Duration { return p.after }

func items(lists ...string) []Delivery[string] {
	var batch []Delivery[string]
	for _, l := range lists {
		d := Delivery[string]{Item: l}
		for _, body := range strings.Fields(l) {
			var m graph.Message
			if strings.HasPrefix(body, "!") {
				m.Fail(errors.New("no JSON"))
			}
			m.Body = []byte(body) // its name, in what is reported
			d.Messages = append(d.Messages, m)
		}
		batch = append(batch, d)
	}
	return batch
}

func TestDelivery(t *testing.T) {
	down := errors.New("connection refused")
	never := permanent{errors.New("too large")}
	remark := errors.New("2 of 3 too old")
	refused := func(take, n int) []answer { return []answer{{take: take, err: collective{never, n}}} }
	fail := func(n int) []answer { return slices.Repeat([]answer{{err: down}}, n) }
	ms := func(ns ...int) (ds []time.Duration) {
		for _, n := range ns {
			ds = append(ds, time.Duration(n)*time.Millisecond)
		}
		return ds
	}
	for _, tc := range []struct {
		name    string
		retry   *Retry
		whole   bool
		batch   []Delivery[string]
		answers []answer
		within  time.Duration // of the drain, when set
		want    []string      // what the destination got
		report  []string
		calls   []time.Duration
	}{
		{name: "items end in order", batch: items("a", "b c"), want: []string{"a", "b", "c"}, report: []string{"done a", "done b c"}, calls: ms(0, 0)},
		{name: "a whole batch is one write", whole: true, batch: items("a", "b c"), want: []string{"a", "b", "c"}, report: []string{"done a", "done b c"}, calls: ms(0)},
		{
			name: "two failures, then success", batch: items("a"), answers: fail(2), want: []string{"a"},
			report: []string{"retry 1", "retry 2", "done a"}, calls: ms(0, 100, 300),
		},
		{
			name: "always failing ends after four attempts", batch: items("a"), answers: fail(9),
			report: []string{"retry 1", "retry 2", "retry 3", "failed a [a] 4 sink delivery failure: I/O error: connection refused"}, calls: ms(0, 100, 300, 700),
		},
		{
			name: "what was taken behind the first failure is done", retry: &Retry{}, whole: true, batch: items("a", "b", "c d", "e"),
			answers: []answer{{err: partly{down, []int{1, 3}}}},
			report: []string{
				"failed a [a] 1 sink delivery failure: I/O error: connection refused",
				"parked c 1 sink delivery failure: I/O error: connection refused",
				"failed e [e] 1 sink delivery failure: I/O error: connection refused",
				"done b", "done c d",
			}, calls: ms(0),
		},
		{
			name: "without retries one attempt", retry: &Retry{}, batch: items("a"), answers: fail(1),
			report: []string{"failed a [a] 1 sink delivery failure: I/O error: connection refused"}, calls: ms(0),
		},
		{
			name: "a permanent error is not retried", batch: items("a", "b"), answers: []answer{{err: never}}, want: []string{"b"},
			report: []string{"parked a 1 sink delivery failure: permanent delivery failure: too large", "done a", "done b"}, calls: ms(0, 0),
		},
		{
			name: "a permanent error of one result does not keep the others", batch: items("a b c"), answers: []answer{{take: 1, err: never}}, want: []string{"a", "c"},
			report: []string{"parked b 1 sink delivery failure: permanent delivery failure: too large", "done a b c"}, calls: ms(0, 0),
		},
		{
			name: "a batch that is refused ends each of its items once", whole: true, batch: items("a", "b c", "d"), answers: refused(0, 4),
			report: []string{
				"failed a [a] 1 sink delivery failure: permanent delivery failure: too large", "failed b c [b c] 1 sink delivery failure: permanent delivery failure: too large",
				"failed d [d] 1 sink delivery failure: permanent delivery failure: too large",
			}, calls: ms(0),
		},
		{
			name: "a part of a batch that is refused leaves the rest", whole: true, batch: items("a", "b c d", "e"), answers: refused(1, 2), want: []string{"a", "d", "e"},
			report: []string{
				"done a", "parked b 1 sink delivery failure: permanent delivery failure: too large", "parked c 1 sink delivery failure: permanent delivery failure: too large",
				"done b c d", "done e",
			}, calls: ms(0, 0),
		},
		{
			name: "a refusal ends with its own messages", whole: true, batch: items("a b", "c"), answers: refused(1, 1), want: []string{"a", "c"},
			report: []string{"failed a b [b] 1 sink delivery failure: permanent delivery failure: too large", "done c"}, calls: ms(0, 0),
		},
		{
			name: "a refusal does not reach behind what could not be rendered", whole: true, batch: items("a !b c", "d"), answers: refused(0, 1), want: []string{"c", "d"},
			report: []string{
				"parked a 1 sink delivery failure: permanent delivery failure: too large", "parked !b 1 sink delivery failure: permanent delivery failure: no JSON",
				"done a !b c", "done d",
			}, calls: ms(0, 0),
		},
		{
			name: "a remark beside a batch that was taken is told, and nothing is tried again", whole: true, batch: items("a", "b c"),
			answers: []answer{{take: 3, err: remark}}, want: []string{"a", "b", "c"}, report: []string{"in part: 2 of 3 too old", "done a", "done b c"}, calls: ms(0),
		},
		{
			name: "even a permanent one", batch: items("a"), answers: []answer{{take: 1, err: never}}, want: []string{"a"}, report: []string{"in part: too large", "done a"}, calls: ms(0),
		},
		{
			name: "a remark behind which something is left does not count as an attempt", whole: true, retry: &Retry{}, batch: items("a !b c"), answers: []answer{{take: 1, err: remark}},
			want: []string{"a", "c"}, report: []string{"in part: 2 of 3 too old", "parked !b 1 sink delivery failure: permanent delivery failure: no JSON", "done a !b c"}, calls: ms(0, 0),
		},
		{
			name: "what could not be rendered is parked in its place and never written", batch: items("a !b c", "!d", "e"), want: []string{"a", "c", "e"},
			report: []string{
				"parked !b 1 sink delivery failure: permanent delivery failure: no JSON", "done a !b c",
				"parked !d 1 sink delivery failure: permanent delivery failure: no JSON", "done !d", "done e",
			}, calls: ms(0, 0, 0),
		},
		{
			name: "the rest of a whole batch goes on behind what could not be rendered", whole: true, batch: items("a !b c", "d"), want: []string{"a", "c", "d"},
			answers: []answer{{err: down}},
			report:  []string{"retry 1", "parked !b 2 sink delivery failure: permanent delivery failure: no JSON", "done a !b c", "done d"}, calls: ms(0, 100, 100),
		},
		{
			name: "what is confirmed is not sent again", batch: items("a b c"), answers: []answer{{take: 1, err: down}}, want: []string{"a", "b", "c"},
			report: []string{"retry 1", "done a b c"}, calls: ms(0, 100),
		},
		{
			name: "progress of a batch begins the attempts anew", whole: true, retry: &Retry{Max: 1, Base: time.Millisecond, Cap: time.Second}, batch: items("a", "b", "c"),
			answers: []answer{{take: 1, err: down}, {take: 1, err: down}, {err: down}}, want: []string{"a", "b"},
			report: []string{"done a", "retry 1", "done b", "retry 1", "failed c [c] 2 sink delivery failure: I/O error: connection refused"}, calls: ms(0, 1, 2),
		},
		{
			name: "a destination that asks for patience gets it", batch: items("a"), answers: []answer{{err: patient{down, 7 * time.Second}}}, want: []string{"a"},
			report: []string{"retry 1", "done a"}, calls: ms(0, 7000),
		},
		{
			name: "one panic is retried alone", whole: true, batch: items("a", "b"), answers: []answer{{panic: "boom"}}, want: []string{"a", "b"},
			report: []string{"panic boom", "done a", "done b"}, calls: ms(0, 0, 0),
		},
		{
			name: "two panics end the item and nothing else", whole: true, batch: items("a", "b"), answers: []answer{{panic: "boom"}, {panic: "boom"}}, want: []string{"b"},
			report: []string{"panic boom", "panic boom", "failed a [a] 1 sink delivery failure: panic: boom", "done b"}, calls: ms(0, 0, 0),
		},
		{
			name: "the end of the drain cuts a wait short", batch: items("a", "b"), answers: fail(9), within: 150 * time.Millisecond,
			report: []string{"retry 1", "retry 2", "failed a [a] 2 sink delivery failure: drain timeout", "failed b [b] 0 sink delivery failure: drain timeout"}, calls: ms(0, 100),
		},
		{
			name: "what was taken behind the first failure is done at the end of the drain, too", whole: true, batch: items("a", "b c", "d", "e"),
			answers: []answer{{hang: true, err: partly{errors.New("no answer"), []int{2, 3}}}}, within: time.Second,
			report: []string{
				"failed a [a] 1 sink delivery failure: drain timeout", "parked b 1 sink delivery failure: drain timeout",
				"failed e [e] 1 sink delivery failure: drain timeout", "done b c", "done d",
			}, calls: ms(0),
		},
		{
			name: "the end of the drain ends a write that hangs", batch: items("a"), answers: []answer{{hang: true}}, within: time.Second,
			report: []string{"failed a [a] 1 sink delivery failure: drain timeout"}, calls: ms(0),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var report []string
				note := func(format string, args ...any) { report = append(report, fmt.Sprintf(format, args...)) }
				transport := &script{t: t, answers: slices.Clone(tc.answers), begin: time.Now()}
				c := retrier[string]{transport: transport, retry: unscaled(), whole: tc.whole, report: outcomes[string]{
					done: func(ds []Delivery[string]) {
						for i := range ds {
							note("done %s", ds[i].Item)
						}
					},
					retried: func(n int, _ error) { note("retry %d", n) },
					partial: func(err error) { note("in part: %s", err) },
					panics:  func(text string, _ []byte) { note("panic %s", text) },
					parked: func(d *Delivery[string], n int, err error) {
						note("parked %s %d %s", d.Messages[d.Next].Body, n, Cause(err))
					},
					failed: func(d *Delivery[string], n int, err error) {
						var left []string
						for _, m := range d.left() {
							left = append(left, string(m.Body))
						}
						note("failed %s %s %d %s", d.Item, left, n, Cause(err))
					},
				}}
				if tc.retry != nil {
					c.retry = *tc.retry
					c.retry.Scale = unscaled().Scale
				}
				ctx := t.Context()
				if tc.within > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.within)
					defer cancel()
				}
				c.deliver(ctx, tc.batch, attempt{})
				if !slices.Equal(transport.got, tc.want) {
					t.Errorf("the destination got %q, want %q", transport.got, tc.want)
				}
				if !slices.Equal(report, tc.report) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(report, "\n"), strings.Join(tc.report, "\n"))
				}
				if !slices.Equal(transport.calls, tc.calls) {
					t.Errorf("attempts at %v, want %v", transport.calls, tc.calls)
				}
			})
		})
	}
}

// unscaled is the default policy with waits that are no longer and no shorter.
func unscaled() Retry {
	r := DefaultRetry()
	r.Scale = func() float64 { return 1 }
	return r
}

func TestWaitsAreScaledAtRandom(t *testing.T) {
	r := Retry{Base: 100 * time.Millisecond, Cap: time.Second}
	var sum time.Duration
	for range 1000 {
		got := r.Delay(1, nil)
		sum += got
		if got < 80*time.Millisecond || got > 120*time.Millisecond {
			t.Errorf("a wait of 100ms takes %s, want between 80ms and 120ms", got)
		}
	}
	if mean := sum / 1000; mean < 98*time.Millisecond || mean > 102*time.Millisecond {
		t.Errorf("waits of 100ms take %s in the mean, want between 98ms and 102ms", mean)
	}
}

func TestDelay(t *testing.T) {
	asked := func(d time.Duration) error { return patient{errors.New("busy"), d} }
	for _, tc := range []struct {
		name  string
		retry Retry
		scale float64
		err   error
		want  time.Duration
	}{
		{"a wait is scaled down", DefaultRetry(), 0.8, nil, 80 * time.Millisecond},
		{"the longest wait is scaled too", Retry{Base: time.Minute, Cap: time.Second}, 1.2, nil, 1200 * time.Millisecond},
		{"what the destination asks for is not scaled", DefaultRetry(), 1.2, asked(7 * time.Second), 7 * time.Second},
		{"a delay that is shorter than the wait changes nothing", DefaultRetry(), 1.2, asked(time.Millisecond), 120 * time.Millisecond},
		{"without a base nobody waits", Retry{Cap: time.Second}, 1.2, nil, 0},
	} {
		tc.retry.Scale = func() float64 { return tc.scale }
		if got := tc.retry.Delay(1, tc.err); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestDelayNeverOverflows(t *testing.T) {
	r := Retry{Max: 1000, Base: time.Hour, Cap: 5 * time.Hour, Scale: unscaled().Scale}
	for _, tc := range []struct {
		attempt int
		want    time.Duration
	}{{1, time.Hour}, {2, 2 * time.Hour}, {3, 4 * time.Hour}, {4, 5 * time.Hour}, {900, 5 * time.Hour}} {
		if got := r.Delay(tc.attempt, nil); got != tc.want {
			t.Errorf("retry %d waits %s, want %s", tc.attempt, got, tc.want)
		}
	}
}
