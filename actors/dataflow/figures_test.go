package dataflow_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
)

// limited takes so many messages and is stuck from then on.
type limited struct {
	sinktest.Recorder
	left int
	hung bool // not even the end of the drain gets it back
	end  chan struct{}
}

func (l *limited) Write(ctx context.Context, messages []graph.Message) (int, error) {
	if l.left == 0 && l.hung {
		<-l.end
		return 0, context.Canceled
	}
	if l.left == 0 {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	n, err := l.Recorder.Write(ctx, messages[:min(l.left, len(messages))])
	l.left -= n
	return n, err
}

// Each line is delivered, a dead letter, dropped, or not delivered when the drain
// ends, wherever it was held up.
func TestEveryLineIsInOneFigureAtTheEnd(t *testing.T) {
	const lines, all = 3000, 1 << 20
	type settle struct {
		name  string
		lines func(*tally, ...string) []graph.Line
	}
	kinds := []settle{{"acknowledged", (*tally).lines}, {"unasked", func(_ *tally, texts ...string) []graph.Line {
		run := make([]graph.Line, len(texts))
		for i, text := range texts {
			run[i].Raw = []byte(text)
		}
		return run
	}}}
	for _, tc := range []struct {
		name     string
		text     string
		results  int   // of a line, 0 for one
		lines    int   // 0 for 3000
		takes    []int // of each sink, before it is stuck
		drop     bool
		hung     bool
		buffer   int
		capacity int // of the sinks
		batch    int // taken by sinks at a time
		dlq      bool
		dlqTakes int
	}{
		{name: "a sink that never takes anything", takes: []int{0}},
		{name: "a sink that is stuck half way", takes: []int{1000}, batch: 64},
		{name: "a sink that never comes back", takes: []int{1000}, hung: true, batch: 64},
		{name: "small lanes, so that every stage holds some", takes: []int{17}, buffer: 8},
		{name: "several results of a line, stuck in the middle of one", takes: []int{1000}, results: 3},
		{name: "more results of a line than leave at once", takes: []int{1000}, results: 300, lines: 20},
		{name: "the same for two sinks", takes: []int{all, 1000}, results: 300, lines: 20},
		{name: "everything arrives", takes: []int{all}},
		{name: "lines without a result", text: `{"a":"good"}`, takes: []int{0}},
		{name: "lines that are no events", text: `{`, takes: []int{0}},
		{name: "one sink of two is stuck", takes: []int{all, 300}, capacity: 100},
		{name: "both are stuck, each elsewhere", takes: []int{700, 300}, capacity: 100},
		{name: "what does not fit is dropped", takes: []int{300}, drop: true, capacity: 5},
		{name: "dead letters of the end of the drain", takes: []int{300}, capacity: 100, dlq: true, dlqTakes: all},
		{name: "two sinks leave the same dead letters", takes: []int{300, 300}, capacity: 100, dlq: true, dlqTakes: all},
		{name: "a dead letter queue that is stuck too", takes: []int{300}, capacity: 100, dlq: true, dlqTakes: 20},
		{name: "a dead letter queue that never comes back", takes: []int{300}, hung: true, capacity: 100, dlq: true, dlqTakes: 20},
		{name: "dead letters of lines that are no events", text: `{`, takes: []int{0}, dlq: true, dlqTakes: 40},
	} {
		for _, kind := range kinds {
			t.Run(tc.name+", "+kind.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					end := make(chan struct{})
					defer func() { close(end); synctest.Wait() }()
					results, lines := max(1, tc.results), cmp.Or(tc.lines, lines)
					var rules strings.Builder
					for i := range results {
						rules.WriteString(ruleNamed(fmt.Sprint("A", i), "evil"))
					}
					o := settings{rules: rules.String(), buffer: tc.buffer, dlq: tc.dlq, format: format.JSON}
					var sinks []*limited
					for _, n := range tc.takes {
						s := &limited{left: n, hung: tc.hung, end: end}
						sinks = append(sinks, s)
						o.sinks = append(o.sinks, sinkSettings{transport: s, drop: tc.drop, capacity: tc.capacity, batch: tc.batch})
					}
					letters := &limited{left: tc.dlqTakes, hung: tc.hung, end: end}
					o.deadLetters = letters
					l, acks := assemble(t, o), &tally{}
					text := tc.text
					if text == "" {
						text = `{"a":"evil"}`
					}
					texts := strings.Split(strings.Repeat(text+"\n", lines), "\n")[:lines]
					put := make(chan int, 1)
					go func() {
						n, _ := l.Parse.Intake("test", time.Now).Put(context.Background(), kind.lines(acks, texts...))
						put <- n
					}()
					synctest.Wait()
					ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
					defer cancel()
					l.system.Drain(ctx)
					accepted := <-put
					admitted, open := l.Open.Lines()
					matches, delivered := strings.Contains(text, "evil"), 0
					if matches {
						delivered = len(sinks[0].Lines()) / results
						for _, s := range sinks {
							delivered = min(delivered, len(s.Lines())/results)
						}
					} else if !tc.dlq {
						delivered = accepted - open // nothing comes of these lines
					}
					dead := len(letters.Lines())
					if len(sinks) > 1 {
						dead /= len(sinks) // each of them leaves its own
					}
					dropped := int(max(0, l.metric("sink_dropped_total")))
					if admitted != accepted || delivered+dead+dropped+open != accepted {
						t.Errorf("%d accepted (counted %d): %d delivered, %d dead letters, %d dropped, %d undelivered, %d in no figure",
							accepted, admitted, delivered, dead, dropped, open, accepted-delivered-dead-dropped-open)
					}
					if tc.takes[0] != all && matches && !tc.drop && open == 0 && !tc.dlq {
						t.Error("nothing is undelivered, although a sink is stuck")
					}
					if !matches && !tc.dlq && open != 0 {
						t.Errorf("%d lines are undelivered that nothing comes of", open)
					}
				})
			})
		}
	}
}
