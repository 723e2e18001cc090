package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/correlation"

	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/load"
)

// stream drives one correlation with events spread over groups and values.
type stream struct {
	engine    *correlation.Engine
	extractor *correlation.Extractor
	event     numbered
	shape     shape
	n         int
	record    []byte
	results   []*correlation.Result
}

// shape says what the events of a stream are like.
type shape struct {
	kind, window string
	groups       int
	values       int // different ones
	perSecond    int
}

// numbered is an event whose fields are numbers, spelled without allocating.
type numbered struct {
	user, value []byte
	fields      []string
}

// Value gives the group and the value.
func (s *numbered) Value(field int) (event.Value, bool) {
	switch s.fields[field] {
	case "user":
		return event.Value{Type: event.Number, Raw: s.user}, true
	case "v":
		return event.Value{Type: event.Number, Raw: s.value}, true
	}
	return event.Value{}, false
}

// Text gives them as texts.
func (s *numbered) Text(field int) ([]byte, event.Type, bool) {
	v, ok := s.Value(field)
	return v.Raw, v.Type, ok
}

// AppendJSON is not asked for: the correlations keep no events.
func (s *numbered) AppendJSON(dst []byte) []byte { return append(dst, "{}"...) }

// span is the timespan of the correlation, in seconds.
const span = 300

// ruleText is a correlation that never fires.
func ruleText(kind, window string) string {
	var b strings.Builder
	for _, id := range []string{"a", "b"} {
		fmt.Fprintf(&b, "title: %s\nid: %s\ndetection: {s: {k: %s}, condition: s}\n---\n", id, id, id)
	}
	fmt.Fprintf(&b, "title: c\ncorrelation:\n  type: %s\n  window: %s\n  timespan: %ds\n  group-by: [user]\n", kind, window, span)
	field := ", field: v"
	switch kind {
	case "temporal", "temporal_ordered":
		b.WriteString("  rules: [a, b]\n")
		field = ""
	case "event_count":
		field = ""
		fallthrough
	default:
		b.WriteString("  rules: [a]\n")
	}
	if window == "session" {
		b.WriteString("  gap: 2m\n")
	}
	fmt.Fprintf(&b, "  condition: {gte: 1000000000%s}\n", field)
	return b.String()
}

func newStream(s shape) (*stream, error) {
	c := load.FromBytes("rules.yml", []byte(ruleText(s.kind, s.window)), load.Options{})
	if len(c.Rejected) > 0 {
		return nil, c.Problems()[0]
	}
	p, err := correlation.Compile(c.Correlations, c.Rules, correlation.Options{})
	if err != nil {
		return nil, err
	}
	return &stream{
		engine: correlation.New(p, correlation.Limits{Groups: 2_000_000, Bytes: 1 << 40}), extractor: correlation.NewExtractor(p),
		event: numbered{fields: p.Spec().Fields}, shape: s,
	}, nil
}

// steps feeds the next n events.
func (s *stream) steps(n int) error {
	for range n {
		ts := int64(1_700_000_000 + s.n/s.shape.perSecond)
		s.event.user = strconv.AppendInt(s.event.user[:0], int64(s.n%s.shape.groups), 10)
		s.event.value = strconv.AppendInt(s.event.value[:0], int64(s.n/s.shape.groups*7919%s.shape.values), 10)
		s.record = s.extractor.Append(s.record[:0], []int{0}, ts, &s.event)
		s.engine.Begin()
		var err error
		if s.results, _, err = s.engine.Process(s.record, ts, ts, s.results[:0]); err != nil {
			return err
		}
		s.engine.Commit()
		if s.n++; s.n%s.shape.perSecond == 0 {
			s.engine.Advance(ts)
		}
	}
	return nil
}

// measureStream returns what an event costs once the windows are full.
func measureStream(s shape, warm int, each time.Duration) (time.Duration, error) {
	st, err := newStream(s)
	if err != nil {
		return 0, err
	}
	if err := st.steps(warm); err != nil {
		return 0, err
	}
	const portion = 5000
	start, wall := sigmatest.ProcessorTime(), time.Now()
	for done := portion; ; done += portion {
		if err := st.steps(portion); err != nil {
			return 0, err
		}
		if time.Since(wall) >= each {
			return max((sigmatest.ProcessorTime()-start)/time.Duration(done), 1), nil
		}
	}
}
