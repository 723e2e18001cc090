package correlation

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/load"
)

// An event that fails half way is undone like one that went through.
func TestRollbackOfHalfAnEvent(t *testing.T) {
	text := "title: login\nid: d\ndetection: {s: {kind: login}, condition: s}\n"
	for i, kind := range []string{"event_count", "value_count", "value_sum", "temporal", "value_median", "event_count"} {
		condition := "gte: 3"
		if i > 0 && i < 5 && kind != "temporal" {
			condition += ", field: n"
		}
		text += fmt.Sprintf("---\ntitle: c%d\ncorrelation: {type: %s, rules: [d], group-by: [user], timespan: 60s, condition: {%s}}\nsluice.action: %s\n",
			i, kind, condition, []string{"alert", "reset"}[i%2])
	}
	c := load.FromBytes("r.yml", []byte(text), load.Options{})
	p, err := program.Compile(c.Correlations, c.Rules, program.Options{})
	if err != nil || len(c.Rejected) > 0 {
		t.Fatalf("compile: %v, %v", err, c.Problems())
	}
	x, doc := match.NewExtractor(p.Spec()), match.NewDocument(p.Spec())
	record := func(ts int64, event string) []byte {
		doc.Set([]byte(event))
		return x.Append(nil, []int{0}, ts, doc)
	}
	e := New(p, Limits{})
	// process gives an event to the engine, one correlation of which may be broken.
	process := func(record []byte, broken int) (failure any) {
		e.event = math.MaxUint32 // the next one has the number of all those before
		e.Begin()
		if broken >= 0 {
			whole := e.states[broken]
			e.states[broken] = nil
			defer func() {
				failure = recover()
				e.states[broken] = whole
				e.Rollback()
			}()
		}
		if _, _, err = e.Process(record, 100, 100, nil); err != nil {
			t.Fatal(err)
		}
		e.Commit()
		return nil
	}
	state := func() []byte {
		var b bytes.Buffer
		if err := e.Export().Encode(&b, 100); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, ts := range []int64{10, 12, 12, 13, 14} {
		process(record(ts, fmt.Sprintf(`{"user":"a","n":%d}`, ts)), -1)
		before := state()
		for _, r := range [][]byte{
			record(15, `{"user":"a","n":9}`), record(11, `{"user":"a","n":12}`), record(15, `{"user":"new","n":9}`), record(500, `{"user":"a","n":9}`),
		} {
			for broken := range e.states {
				if process(r, broken) == nil {
					t.Fatal("nothing failed")
				}
				e.check(t)
				if !bytes.Equal(state(), before) {
					t.Fatalf("an event that failed at correlation %d left a trace", broken)
				}
			}
		}
	}
}
