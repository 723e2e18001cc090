package correlation_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/event"
)

// synthetic is an event whose fields are numbers, spelled without allocating.
type synthetic struct {
	user, value []byte
	fields      []string
}

func (s *synthetic) Value(field int) (event.Value, bool) {
	switch s.fields[field] {
	case "user":
		return event.Value{Type: event.Number, Raw: s.user}, true
	case "v":
		return event.Value{Type: event.Number, Raw: s.value}, true
	}
	return event.Value{}, false
}

// Text gives them as texts.
func (s *synthetic) Text(field int) ([]byte, event.Type, bool) {
	v, ok := s.Value(field)
	return v.Raw, v.Type, ok
}

func (s *synthetic) AppendJSON(dst []byte) []byte { return append(dst, `{}`...) }

// stream drives one correlation with events spread over groups and values,
// perSecond of them in each second.
type stream struct {
	engine    *correlation.Engine
	extractor *match.Extractor
	event     synthetic
	groups    int
	values    int
	perSecond int
	jitter    int64 // events are up to so many seconds late
	n         int
	record    []byte
	results   []*correlation.Result
}

func newStream(tb testing.TB, rule string, groups, values, perSecond int) *stream {
	tb.Helper()
	p := compile(tb, rule, program.Options{})
	return &stream{
		engine: correlation.New(p, correlation.Limits{Groups: 1_000_000}), extractor: match.NewExtractor(p.Spec()),
		event: synthetic{fields: p.Spec().Fields}, groups: groups, values: values, perSecond: perSecond,
	}
}

// step feeds the next event. It is too short to mark itself as a helper.
func (s *stream) step() error {
	ts := int64(1_700_000_000 + s.n/s.perSecond)
	at := ts
	if s.jitter > 0 {
		at -= int64(s.n*7919) % s.jitter
	}
	s.event.user = fmt.Append(s.event.user[:0], s.n%s.groups)
	s.event.value = fmt.Append(s.event.value[:0], s.n/s.groups%s.values)
	s.record = s.extractor.Append(s.record[:0], []int{0}, at, &s.event)
	s.engine.Begin()
	var err error
	s.results, _, err = s.engine.Process(s.record, ts, ts, s.results[:0])
	s.engine.Commit()
	s.n++
	if s.n%s.perSecond == 0 {
		s.engine.Advance(ts)
	}
	return err
}

func (s *stream) steps(tb testing.TB, n int) {
	tb.Helper()
	for range n {
		if err := s.step(); err != nil {
			tb.Fatal(err)
		}
	}
}

func benchmarkStream(b *testing.B, s *stream, warm int) {
	b.Helper()
	s.steps(b, warm)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.step(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(1e9*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "events/s")
}

var benchTypes = []string{
	"event_count", "value_count", "value_sum", "value_avg", "value_percentile", "value_median", "temporal", "temporal_ordered",
}

func benchRule(kind, window string) string {
	text := "type: " + kind + "\ntimespan: 5m\nwindow: " + window
	condition := "gte: 1000000000"
	switch kind {
	case "temporal", "temporal_ordered":
		text += "\nrules: [d-login, d-recon]"
	case "event_count":
	default:
		condition += ", field: v"
	}
	if window == "session" {
		text += "\ngap: 2m"
	}
	return body(text + "\ncondition: {" + condition + "}")
}

func BenchmarkEngine(b *testing.B) {
	for _, kind := range benchTypes {
		for _, window := range []string{"sliding", "tumbling", "session"} {
			for _, groups := range []int{1, 1000, 100_000} {
				b.Run(fmt.Sprintf("%s/%s/%d", kind, window, groups), func(b *testing.B) {
					benchmarkStream(b, newStream(b, benchRule(kind, window), groups, 500, 1000), 2*groups)
				})
			}
		}
	}
}

// More distinct values must not cost more time: the bar is 25 %.
func BenchmarkDistinct(b *testing.B) {
	for _, values := range []int{10, 10_000} {
		b.Run(fmt.Sprint(values), func(b *testing.B) {
			benchmarkStream(b, newStream(b, benchRule("value_count", "sliding"), 1, values, 100), 40_000)
		})
	}
}

// A wider window must not cost more time either.
func BenchmarkWidth(b *testing.B) {
	for _, kind := range []string{"event_count", "value_sum", "value_count", "value_median"} {
		for _, perSecond := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/%d", kind, 300*perSecond), func(b *testing.B) {
				benchmarkStream(b, newStream(b, benchRule(kind, "sliding"), 1, 500, perSecond), 310*perSecond)
			})
		}
	}
}

// Several sources are never quite in order.
func BenchmarkLate(b *testing.B) {
	for _, kind := range []string{"event_count", "value_sum", "value_count"} {
		for _, groups := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/%d", kind, groups), func(b *testing.B) {
				s := newStream(b, benchRule(kind, "sliding"), groups, 500, 1000)
				s.jitter = 5
				benchmarkStream(b, s, 100_000)
			})
		}
	}
}

func BenchmarkFiring(b *testing.B) {
	s := newStream(b, body("type: event_count\ncondition: {gte: 1}"), 1000, 1, 1000)
	benchmarkStream(b, s, 2000)
}

func BenchmarkExport(b *testing.B) {
	s := newStream(b, benchRule("event_count", "sliding"), 100_000, 1, 1000)
	s.steps(b, 200_000)
	b.ReportAllocs()
	for b.Loop() {
		s.engine.Export()
	}
}

// BenchmarkMemory reports what a group and an entry cost, keys of five bytes
// included.
func BenchmarkMemory(b *testing.B) {
	for _, tc := range []struct {
		name, kind       string
		groups, perGroup int
		perSecond        int
	}{
		{"a quiet group", "event_count", 100_000, 1, 1000},
		{"a quiet sum", "value_sum", 100_000, 1, 1000},
		{"a quiet distinct count", "value_count", 100_000, 1, 1000},
		{"a count for each second", "event_count", 10, 300, 10},
		{"a count a thousand times a second", "event_count", 1, 100_000, 1000},
		{"a number", "value_sum", 1, 100_000, 1000},
		{"a ranked number", "value_median", 1, 100_000, 1000},
		{"a text", "value_count", 1, 100_000, 1000},
	} {
		b.Run(tc.name, func(b *testing.B) {
			var before, after runtime.MemStats
			s := newStream(b, benchRule(tc.kind, "sliding"), tc.groups, 50_000, tc.perSecond)
			runtime.GC()
			runtime.ReadMemStats(&before)
			s.steps(b, tc.groups*tc.perGroup)
			runtime.GC()
			runtime.ReadMemStats(&after)
			used := float64(after.HeapAlloc) - float64(before.HeapAlloc)
			for b.Loop() { // what is reported before is forgotten
			}
			b.ReportMetric(used/float64(s.engine.Groups()), "B/group")
			b.ReportMetric(used/float64(tc.groups*tc.perGroup), "B/entry")
			runtime.KeepAlive(s)
		})
	}
}

// A flood of new keys at the limit: every event makes a group, and room is made
// again and again.
func BenchmarkFlood(b *testing.B) {
	p := compile(b, benchRule("event_count", "sliding"), program.Options{})
	s := &stream{
		engine: correlation.New(p, correlation.Limits{}), extractor: match.NewExtractor(p.Spec()),
		event: synthetic{fields: p.Spec().Fields}, groups: 1 << 40, values: 1, perSecond: 10_000,
	}
	benchmarkStream(b, s, 200_000)
}

func BenchmarkEncode(b *testing.B) {
	s := newStream(b, benchRule("event_count", "sliding"), 100_000, 1, 1000)
	s.steps(b, 300_000)
	view := s.engine.Export()
	b.ReportAllocs()
	for b.Loop() {
		var n counter
		if err := view.Encode(&n, 0); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(n))
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
