package dataflow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/ndjson"
	"github.com/sluicehq/sluice/sources/stdin"
)

// titles are the rules of native lines.
func titles(lines []string) (out []string) {
	for _, l := range lines {
		_, rest, _ := strings.Cut(l, `"rule_title":"`)
		title, _, _ := strings.Cut(rest, `"`)
		out = append(out, title)
	}
	return out
}

func TestWhatBecomesOfLines(t *testing.T) {
	evil := ruleNamed("A", "evil")
	for _, tc := range []struct {
		name        string
		o           settings
		lines       []string
		out         []string // titles
		deadLetters []string // parts, one per record
		metrics     map[string]float64
	}{
		{
			name:  "a batch with a parse error and no match",
			o:     settings{rules: evil, format: format.JSON},
			lines: []string{`{"a":1}`, `{bad`, `{"b":2}`},
			metrics: map[string]float64{
				"batch_size": 1, "events_parse_errors_total": 1, "events_processed_total": 2, "event_processing_seconds": 2, "pipeline_latency_seconds": 1,
				"batch_phase_duration_seconds{phase=parse}": 1, "batch_phase_duration_seconds{phase=decode_merge}": 1, "batch_phase_duration_seconds{phase=observe}": 1,
				"batch_phase_duration_seconds{phase=evaluate}": 1, "batch_phase_duration_seconds{phase=result_merge}": 1, "batch_phase_duration_seconds{phase=dispatch}": 1,
				"detection_matches_total": 0, "dlq_events_total": 0,
			},
		},
		{
			name:  "a batch of parse errors",
			o:     settings{rules: evil, format: format.JSON},
			lines: []string{`{bad`, `nope`},
			metrics: map[string]float64{
				"batch_size": 1, "events_parse_errors_total": 2, "events_processed_total": 0, "pipeline_latency_seconds": 1,
				"batch_phase_duration_seconds{phase=parse}": 1, "batch_phase_duration_seconds{phase=decode_merge}": 1, "batch_phase_duration_seconds{phase=observe}": 0,
				"batch_phase_duration_seconds{phase=evaluate}": 0, "batch_phase_duration_seconds{phase=result_merge}": 0, "batch_phase_duration_seconds{phase=dispatch}": 1,
			},
		},
		{
			name:    "what is no JSON is text to auto",
			o:       settings{rules: evil},
			lines:   []string{`{bad`, `7`, `[1,2]`},
			metrics: map[string]float64{"events_processed_total": 4, "events_parse_errors_total": 0, "json_suspects_total": 1},
		},
		{
			name:    "a scalar is an event without fields",
			o:       settings{rules: evil, format: format.JSON},
			lines:   []string{`7`, `{"a":1} x`},
			metrics: map[string]float64{"events_processed_total": 1, "events_parse_errors_total": 1, "json_suspects_total": 0},
		},
		{
			name:    "a line of several events is one line, and its results come together",
			o:       settings{rules: evil, format: format.JSON},
			lines:   []string{`[{"a":"evil"},{"a":"fine"},7] {"a":"evil"}`, `[]`, `{"a":"evil"}`},
			out:     []string{"A", "A", "A"},
			metrics: map[string]float64{"batch_size": 1, "events_processed_total": 5, "events_parse_errors_total": 0, "detection_matches_total": 3},
		},
		{
			name:    "rules that share title and level add together",
			o:       settings{rules: evil + ruleNamed("A", "e*")},
			lines:   []string{`{"a":"evil"}`},
			out:     []string{"A", "A"},
			metrics: map[string]float64{"detection_matches_total": 2, "detection_matches_by_rule_total{rule_title=A,level=high}": 2},
		},
		{
			name:    "a rule without level",
			o:       settings{rules: strings.Replace(evil, "level: high\n", "", 1)},
			lines:   []string{`{"a":"evil"}`},
			out:     []string{"A"},
			metrics: map[string]float64{"detection_matches_by_rule_total{rule_title=A,level=unknown}": 1},
		},
		{
			name:        "the dead letter of a line that does not decode",
			o:           settings{rules: evil, format: format.JSON, dlq: true},
			lines:       []string{`not json`, `{"a":"evil"}`},
			out:         []string{"A"},
			deadLetters: []string{`{"original_event":"not json","error":"parse error",`},
			metrics:     map[string]float64{"events_processed_total": 1, "events_parse_errors_total": 1, "dlq_events_total": 1},
		},
		{
			name: "an event that panics the engine is quarantined",
			o: settings{rules: evil, dlq: true, tamper: func(b *graph.Batch) {
				for i := range b.Lines {
					if strings.Contains(string(b.Lines[i].Raw), "poison") {
						b.Outcomes[i].Events.To = 1000
					}
				}
			}},
			lines:       []string{`{"a":"evil"}`, `{"a":"evil","n":"poison"}`, `{"a":"evil"}`, `{"a":"evil"}`},
			out:         []string{"A", "A", "A"},
			deadLetters: []string{`{"original_event":"{\"a\":\"evil\",\"n\":\"poison\"}","error":"panic: `},
			metrics: map[string]float64{
				"actor_quarantined_total{actor=evaluate}": 1, "actor_restarts_total{actor=evaluate}": 0, "dlq_events_total": 1, "events_processed_total": 3,
			},
		},
		{
			name: "the same without a dead letter queue",
			o: settings{rules: evil, tamper: func(b *graph.Batch) {
				if len(b.Outcomes) > 1 {
					b.Outcomes[1].Events.To = 1000
				}
			}},
			lines:   []string{`{"a":"evil"}`, `{"a":"evil"}`, `{}`},
			out:     []string{"A"},
			metrics: map[string]float64{"actor_quarantined_total{actor=evaluate}": 1, "dlq_events_total": 0},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tc.o.unspawned = true // so that the lines are one batch
				l, acks := assemble(t, tc.o), &tally{}
				l.put(acks.lines(tc.lines...))
				l.spawn()
				synctest.Wait()
				if got := titles(l.out.Lines()); !slices.Equal(got, tc.out) {
					t.Errorf("rules %q came out, want %q", got, tc.out)
				}
				deadLetters := l.deadLetters.Lines()
				if len(deadLetters) != len(tc.deadLetters) {
					t.Fatalf("dead letters %q, want %d", deadLetters, len(tc.deadLetters))
				}
				for i, part := range tc.deadLetters {
					if !strings.Contains(deadLetters[i], part) {
						t.Errorf("dead letter %s, want one with %s", deadLetters[i], part)
					}
				}
				acks.want(t, all)
				l.wantMetrics(tc.metrics)
			})
		})
	}
}

func TestResultsLeaveInOrderOfArrival(t *testing.T) {
	var rules strings.Builder
	for i := range 10 {
		rules.WriteString(ruleNamed(fmt.Sprintf("R%d", i), fmt.Sprintf("v%d", i)))
	}
	l, acks := assemble(t, settings{rules: rules.String(), workers: 4, batch: 7}), &tally{}
	var texts, want []string
	for i := range 5000 {
		texts = append(texts, fmt.Sprintf(`{"a":"v%d","pad":"%s"}`, i%10, strings.Repeat("x", i%300)))
		want = append(want, fmt.Sprintf("R%d", i%10))
	}
	l.put(acks.lines(texts...))
	drain(t, l, time.Minute)
	if got := titles(l.out.Lines()); !slices.Equal(got, want) {
		t.Errorf("%d results in another order than the %d lines", len(got), len(want))
	}
	acks.want(t, all)
}

// drain ends the line and checks that nothing was left.
func drain(t *testing.T, l *rig, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for _, d := range l.system.Drain(ctx) {
		if d.Expired || d.Lost > 0 {
			t.Errorf("%s: expired %t, lost %d, want a clean end", d.Actor, d.Expired, d.Lost)
		}
	}
}

func TestPoisonousEventsHarmNobodyElse(t *testing.T) {
	poison := func(b *graph.Batch) {
		for i := range b.Lines {
			if strings.Contains(string(b.Lines[i].Raw), "poison") {
				b.Outcomes[i].Events.To += 1000
			}
		}
	}
	l, acks := assemble(t, settings{rules: ruleNamed("A", "evil"), workers: 3, dlq: true, tamper: poison}), &tally{}
	texts := make([]string, 10_000)
	for i := range texts {
		texts[i] = fmt.Sprintf(`{"a":"evil","n":%d}`, i)
		if i%100 == 7 {
			texts[i] = `{"a":"evil","n":"poison"}`
		}
	}
	l.put(acks.lines(texts...))
	drain(t, l, time.Minute)
	if got := len(l.out.Lines()); got != 9900 {
		t.Errorf("%d results, want those of the 9900 harmless events", got)
	}
	if got := len(l.deadLetters.Lines()); got != 100 {
		t.Errorf("%d dead letters, want 100", got)
	}
	acks.want(t, all)
	l.wantMetrics(map[string]float64{
		"actor_quarantined_total{actor=evaluate}": 100, "actor_restarts_total{actor=evaluate}": 0, "events_processed_total": 9900,
	})
	if got := len(l.log.Matching("event quarantined")); got > 1 {
		t.Errorf("%d error logs, want one a minute for one text", got)
	}
}

func TestADrainDeliversWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, acks := assemble(t, settings{rules: ruleNamed("A", "evil"), unspawned: true}), &tally{}
		l.put(acks.lines(slices.Repeat([]string{`{"a":"evil"}`}, 300)...))
		l.spawn()
		drain(t, l, 5*time.Second)
		if got := len(l.out.Lines()); got != 300 {
			t.Errorf("%d results were delivered, want 300", got)
		}
		acks.want(t, all)
		for _, r := range l.system.Records() {
			if r.State != "stopped" {
				t.Errorf("%s is %s, want stopped", r.Name, r.State)
			}
		}
		if n, err := l.Parse.Intake("test", time.Now).Put(t.Context(), acks.lines("late")); n != 0 || err == nil {
			t.Errorf("a put after the drain: %d and %v, want a refusal", n, err)
		}
		l.wantMetrics(map[string]float64{"back_pressure_events_total": 0})
	})
}

func TestBackPressureCountsLinesThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := assemble(t, settings{rules: ruleNamed("A", "evil"), buffer: 100, unspawned: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		body := strings.NewReader(strings.Repeat("{}\n", 300))
		n, _, err := ndjson.NewIntake(l.Parse.Intake("http", time.Now), ndjson.DefaultMaxBody, nil).Ingest(ctx, body, ndjson.Options{})
		if n != 100 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d lines admitted, %v, want 100 and the client's end", n, err)
		}
		l.wantMetrics(map[string]float64{"back_pressure_events_total": 200, "input_queue_depth": 100})
		l.spawn()
		synctest.Wait()
		l.wantMetrics(map[string]float64{"events_processed_total": 100, "input_queue_depth": 0})
	})
}

func TestTheInputQueueIsBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := assemble(t, settings{rules: ruleNamed("A", "evil"), bytes: 1 << 20, unspawned: true})
		long := `{"a":"` + strings.Repeat("x", 600<<10) + `"}`
		done := make(chan int, 1)
		go func() {
			n, _ := l.Parse.Intake("http", time.Now).Put(t.Context(), (&tally{}).lines(long, long))
			done <- n
		}()
		synctest.Wait()
		l.wantMetrics(map[string]float64{"back_pressure_events_total": 1, "input_queue_depth": 1})
		l.spawn()
		if n := <-done; n != 2 {
			t.Errorf("%d lines admitted, want 2", n)
		}
		synctest.Wait()
		l.put((&tally{}).lines(strings.Repeat("y", sources.MaxLine)))
		synctest.Wait()
		l.wantMetrics(map[string]float64{"events_processed_total": 3})
	})
}

func TestCommit(t *testing.T) {
	evil := ruleNamed("A", "evil")
	t.Run("the answer comes when all lines ended", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := assemble(t, settings{rules: evil, format: format.JSON, dlq: true})
			body := strings.NewReader("{\"a\":\"evil\"}\n{}\n{bad\n")
			n, _, err := ndjson.NewIntake(l.Parse.Intake("http", time.Now), ndjson.DefaultMaxBody, nil).Ingest(t.Context(), body, ndjson.Options{Commit: true})
			if n != 3 || err != nil {
				t.Errorf("got %d and %v, want 3", n, err)
			}
			if got := len(l.out.Lines()); got != 1 {
				t.Errorf("%d results are out at the answer, want 1", got)
			}
			l.wantMetrics(map[string]float64{"events_parse_errors_total": 1})
		})
	})
	t.Run("a stuck sink", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow, begin := newStuck(), time.Now()
			l := assemble(t, settings{rules: evil, sinks: []sinkSettings{{transport: slow}}})
			n, _, err := ndjson.NewIntake(l.Parse.Intake("http", time.Now), ndjson.DefaultMaxBody, nil).Ingest(t.Context(), strings.NewReader(`{"a":"evil"}`), ndjson.Options{Commit: true})
			if n != 1 || !errors.Is(err, ndjson.ErrCommitDeadline) || time.Since(begin) != 30*time.Second {
				t.Errorf("got %d and %v after %s, want 1 and the deadline after 30s", n, err, time.Since(begin))
			}
			close(slow.open)
			synctest.Wait()
			if got := len(slow.Lines()); got != 1 {
				t.Errorf("%d results delivered after the sink recovered, want 1", got)
			}
		})
	})
}

func TestStandardInputToSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := assemble(t, settings{rules: ruleNamed("A", "evil"), dlq: true})
		long := strings.Repeat("x", sources.MaxLine+1)
		in := strings.NewReader("\ufeff{\"a\":\"evil\"}\r\n\n" + long + "\n{\"a\":\"evil\"}")
		if err := stdin.New(in).Run(t.Context(), l.Parse.Intake("stdin", time.Now)); err != nil {
			t.Fatal(err)
		}
		drain(t, l, 5*time.Second)
		if got := len(l.out.Lines()); got != 2 {
			t.Errorf("%d results, want 2", got)
		}
		deadLetters := l.deadLetters.Lines()
		if len(deadLetters) != 1 || !strings.Contains(deadLetters[0], `"error":"event exceeds maximum size (1048576 bytes)"`) || !strings.Contains(deadLetters[0], `"stage":"ingest"`) {
			t.Errorf("dead letters %.200q, want the oversize line's", deadLetters)
		}
		l.wantMetrics(map[string]float64{"events_parse_errors_total": 1, "events_processed_total": 2})
	})
}
