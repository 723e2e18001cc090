package dataflow_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/actors/dispatch"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/selector"
)

func TestStuckSinks(t *testing.T) {
	evil := ruleNamed("A", "evil")
	t.Run("no ack until both sinks have delivered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow, acks := newStuck(), &tally{}
			l := assemble(t, settings{rules: evil, sinks: []sinkSettings{{transport: &sinktest.Recorder{}}, {transport: slow}}})
			l.put(acks.lines(`{"a":"evil"}`))
			synctest.Wait()
			acks.want(t, func(int) bool { return false })
			close(slow.open)
			synctest.Wait()
			acks.want(t, all)
		})
	})
	t.Run("on_full=drop never makes dispatch wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow, acks := newStuck(), &tally{}
			l := assemble(t, settings{rules: evil, sinks: []sinkSettings{{transport: slow, drop: true, capacity: 1}}})
			l.put(acks.lines(`{"a":"evil"}`))
			synctest.Wait() // the worker holds the first
			l.put(acks.lines(slices.Repeat([]string{`{"a":"evil"}`}, 49)...))
			synctest.Wait()
			acks.want(t, func(i int) bool { return i >= 2 })
			l.wantMetrics(map[string]float64{"sink_dropped_total{sink=stdout}": 48, "sink_queue_depth{sink=stdout}": 1})
			close(slow.open)
			synctest.Wait()
			acks.want(t, all)
		})
	})
	t.Run("a queue is full in bytes too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow := newStuck()
			big := `{"a":"` + strings.Repeat("e", 400<<10) + `"}`
			l := assemble(t, settings{rules: ruleNamed("A", "'e*'"), bytes: 1 << 20, sinks: []sinkSettings{{transport: slow, drop: true}}})
			for range 5 {
				l.put((&tally{}).lines(big))
				synctest.Wait()
			}
			l.wantMetrics(map[string]float64{"sink_dropped_total{sink=stdout}": 2, "sink_queue_depth{sink=stdout}": 2})
			close(slow.open)
			synctest.Wait()
		})
	})
	t.Run("few but heavy results fill the lanes behind evaluate by bytes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow, acks := newStuck(), &tally{}
			var rules strings.Builder
			for _, title := range []string{"A", "B", "C", "D", "E"} {
				rules.WriteString(ruleNamed(title, "'e*'"))
			}
			l := assemble(t, settings{rules: rules.String(), bytes: 1 << 20, batch: 1, workers: 1, sinks: []sinkSettings{{transport: slow}}})
			heavy := acks.lines(slices.Repeat([]string{`{"a":"` + strings.Repeat("e", 40<<10) + `"}`}, 200)...) // five results share 40 KiB
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = l.Parse.Intake("stdin", time.Now).Put(context.Background(), heavy)
			}()
			synctest.Wait()
			for _, r := range l.system.Records() {
				switch r.Name {
				case "enrich", "sink:stdout": // of 80 KiB, and rendered of 200 KiB
					most := map[string]int{"enrich": 12, "sink:stdout": 5}[r.Name]
					if got := r.Mailbox.HighWatermark; got < most-1 || got > most {
						t.Errorf("%s had %d in its lane of 1 MiB, want at most %d", r.Name, got, most)
					}
				case "correlate", "risk", "alert", "dispatch":
					if got := r.Mailbox.HighWatermark; got != 1 {
						t.Errorf("%s had %d of 80 KiB each in its lane of 128 KiB, want 1", r.Name, got)
					}
				}
			}
			close(slow.open)
			<-done
			synctest.Wait()
			acks.want(t, all)
		})
	})
	t.Run("everything waits, answers, and arrives", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow, acks := newStuck(), &tally{}
			l := assemble(t, settings{rules: evil, buffer: 16, sinks: []sinkSettings{{transport: slow, capacity: 2}}})
			lines := acks.lines(slices.Repeat([]string{`{"a":"evil"}`}, 1000)...)
			done := make(chan int, 1)
			go func() {
				n, _ := l.Parse.Intake("stdin", time.Now).Put(context.Background(), lines)
				done <- n
			}()
			time.Sleep(10 * time.Minute)
			select {
			case <-done:
				t.Fatal("the producer did not wait")
			default:
			}
			d, ok := l.system.Detail(t.Context(), "dispatch").(dispatch.Detail)
			if !ok || !slices.Equal(d.WaitingFor, []string{"stdout"}) {
				t.Errorf("detail of dispatch is %+v, want it to wait for stdout", d)
			}
			for _, r := range l.system.Records() {
				if l.system.Detail(t.Context(), r.Name) == nil {
					t.Errorf("%s does not answer", r.Name)
				}
			}
			close(slow.open)
			if n := <-done; n != 1000 {
				t.Errorf("%d lines admitted, want 1000", n)
			}
			synctest.Wait()
			if got := len(slow.Lines()); got != 1000 {
				t.Errorf("%d results arrived, want 1000", got)
			}
			acks.want(t, all)
		})
	})
	t.Run("silences are made, listed and deleted while everything waits", func(t *testing.T) {
		for _, file := range []string{"", "{}"} {
			synctest.Test(t, func(t *testing.T) {
				slow, acks := newStuck(), &tally{}
				l := assemble(t, settings{rules: evil, buffer: 16, alert: pipeline(t, file), sinks: []sinkSettings{{transport: slow, capacity: 2}}})
				lines := acks.lines(slices.Repeat([]string{`{"a":"evil"}`}, 1000)...)
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, _ = l.Parse.Intake("stdin", time.Now).Put(context.Background(), lines)
				}()
				for range 10 {
					time.Sleep(time.Minute)
					client, begin := l.Alert.Client(), time.Now()
					made, err := client.AddSilence(t.Context(), silence.Spec{Matchers: []selector.Condition{{Selector: "rule", Value: "x"}}})
					if err != nil {
						t.Fatal(err)
					}
					if all, _, err := client.Silences(t.Context()); len(all) != 1 || err != nil {
						t.Errorf("%d silences, %v, want one", len(all), err)
					}
					if found, err := client.DeleteSilence(t.Context(), made.ID); !found || err != nil {
						t.Errorf("deleted: %t, %v", found, err)
					}
					if took := time.Since(begin); took > 100*time.Millisecond {
						t.Errorf("it took %s, want less than 100 ms", took)
					}
				}
				close(slow.open)
				<-done
				synctest.Wait()
				acks.want(t, all)
			})
		}
	})
	t.Run("the end of the drain leaves tokens unsettled and writes dead letters", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow, acks := newStuck(), &tally{}
			l := assemble(t, settings{rules: evil, dlq: true, sinks: []sinkSettings{{transport: slow}}})
			l.put(acks.lines(`{"a":"evil"}`, `{}`, `{"a":"evil"}`))
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			begin := time.Now()
			l.system.Drain(ctx)
			if took := time.Since(begin); took > 6*time.Second {
				t.Errorf("the drain took %s, want at most a second beyond its 5", took)
			}
			acks.want(t, func(i int) bool { return i == 1 })
			deadLetters := l.deadLetters.Lines()
			if len(deadLetters) != 2 {
				t.Fatalf("dead letters %q, want 2", deadLetters)
			}
			for _, got := range deadLetters {
				if !strings.Contains(got, `"error":"sink delivery failure: drain timeout"`) {
					t.Errorf("dead letter %s, want a drain timeout", got)
				}
			}
		})
	})
	t.Run("what sinks hold at the end of the drain becomes dead letters although every stage is stuck", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow, acks := newStuck(), &tally{}
			l := assemble(t, settings{rules: evil, dlq: true, buffer: 4, sinks: []sinkSettings{{transport: slow, capacity: 2}}})
			lines := acks.lines(slices.Repeat([]string{`{"a":"evil"}`}, 200)...)
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = l.Parse.Intake("stdin", time.Now).Put(context.Background(), lines)
			}()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			begin := time.Now()
			ends := l.system.Drain(ctx)
			<-done
			if took := time.Since(begin); took > 6*time.Second {
				t.Errorf("the drain took %s, want at most a second beyond its 5", took)
			}
			if got := l.deadLetters.Lines(); len(got) != 3 {
				t.Errorf("dead letters %q, want one from the worker and 2 from the queue", got)
			}
			if len(l.log.Matching("items left at the end of the drain", "sink=stdout", "items=3")) != 1 {
				t.Error("no warning that 3 items were left")
			}
			for _, d := range ends {
				if d.Actor == actors.NameDLQ && d.Expired {
					t.Error("the dead letter queue had no time to end")
				}
			}
			acks.want(t, func(int) bool { return false })
		})
	})
	t.Run("a write that never returns does not keep what was given to it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			deaf, acks := newDeaf(), &tally{}
			l := assemble(t, settings{rules: evil, dlq: true, sinks: []sinkSettings{{transport: deaf, batch: 4}}})
			l.put(acks.lines(slices.Repeat([]string{`{"a":"evil"}`}, 9)...))
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			begin := time.Now()
			for _, d := range l.system.Drain(ctx) {
				if d.Actor == actors.NameDLQ && d.Expired {
					t.Error("the dead letter queue had no time to end")
				}
			}
			if took := time.Since(begin); took > 6*time.Second {
				t.Errorf("the drain took %s, want at most a second beyond its 5", took)
			}
			close(deaf.open) // too late: nothing is delivered twice
			synctest.Wait()
			if got := l.deadLetters.Lines(); len(got) != 9 {
				t.Errorf("dead letters %q, want 9", got)
			}
			if len(l.log.Matching("items left at the end of the drain", "sink=stdout", "items=9")) != 1 {
				t.Error("no warning that 9 items were left")
			}
			acks.want(t, func(int) bool { return false })
		})
	})
	t.Run("a stuck dead letter queue does not prolong the end of the drain", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow, dead, acks := newStuck(), newStuck(), &tally{}
			l := assemble(t, settings{rules: evil, dlq: true, deadLetters: dead, dlqSize: 1, sinks: []sinkSettings{{transport: slow}}})
			l.put(acks.lines(slices.Repeat([]string{`{"a":"evil"}`}, 100)...))
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			begin := time.Now()
			l.system.Drain(ctx)
			if took := time.Since(begin); took > 7*time.Second {
				t.Errorf("the drain took %s, want about a second beyond its 5", took)
			}
			acks.want(t, func(int) bool { return false })
		})
	})
}

// pipeline are the options of a stage with the text of a file; an empty one is none.
func pipeline(t *testing.T, text string) (o alert.Options) {
	t.Helper()
	if text == "" {
		return o
	}
	path := filepath.Join(t.TempDir(), "alerts.yml")
	err := os.WriteFile(path, []byte(text), 0o600)
	if err == nil {
		o.File, err = alert.Load(path, slog.New(slog.DiscardHandler))
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// deaf is a transport that does not listen to its context, as a pipe that nobody
// reads.
type deaf struct{ stuck }

func newDeaf() *deaf { return &deaf{stuck{open: make(chan struct{})}} }

func (s *deaf) Write(_ context.Context, messages []graph.Message) (int, error) {
	return s.stuck.Write(context.Background(), messages)
}
