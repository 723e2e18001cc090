package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/graph"
)

func TestRecordsReachTheSinkInOrder(t *testing.T) {
	to := &sinktest.Recorder{}
	r := open(t, t.TempDir())
	lines := sink.NewLines(sink.LinesOptions{
		Name: Name, About: Name, Kind: sink.KindFile, OnFull: sink.Block, Transport: to, Retry: sink.DefaultRetry(), BatchMax: 4, Capacity: 2,
		Lost: r.lost, Log: r.log.Logger(),
	})
	system := actorstest.System(t, actors.Options{MaxRestarts: 10})
	if _, err := system.Spawn(lines.Cell(), lines.Produce); err != nil {
		t.Fatal(err)
	}
	r.feed(lines)
	const requests = 200
	var wg sync.WaitGroup
	for range requests {
		wg.Go(func() { r.record(t.Context(), Record{Method: "POST", Endpoint: "/x", Status: 200}) })
	}
	wg.Wait()
	system.DrainControl(t.Context())
	q := All()
	q.Limit = 1000
	var want []string
	for _, e := range slices.Backward(r.page(t, q).Entries) {
		line, err := e.line()
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(line))
	}
	if got := to.Lines(); len(want) != requests || !slices.Equal(got, want) {
		t.Errorf("%d lines reached the sink, want the %d entries in the order of their ids:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	r.add(r.now) // the sink has ended
	if got := r.counts(); got != fmt.Sprint(requests+1, 1) {
		t.Errorf("records and errors %s, want %d 1", got, requests+1)
	}
}

func TestTheSinkIsAsConfigured(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       sink.OnFull
	}{
		{"a full queue drops", "file:///var/log/audit", sink.Drop},
		{"unless it shall block", "file:///var/log/audit?on_full=block", sink.Block},
		{"or drop", "stdout?on_full=drop", sink.Drop},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := open(t, t.TempDir(), func(o *Options) { o.Config.Sink = tc.text })
			got, err := r.Sink()
			if err != nil || got == nil || got.Spec.OnFull != tc.want || got.Capacity != 1024 || got.Name != "audit" {
				t.Errorf("got %+v, %v, want a queue of 1024 that does %s", got, err, tc.want)
			}
		})
	}
	if got, err := open(t, t.TempDir()).Sink(); err != nil || got != nil {
		t.Errorf("without a sink: %v, %v", got, err)
	}
}

func TestSettingsOfTheSinkAreChecked(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"none", "", ""},
		{"a file", "file:///var/log/audit", ""},
		{"a format", "file:///var/log/audit?format=ndjson", "sink: sink 'file:///var/log/audit?format=ndjson': format= is only supported on findings sinks"},
		{"no kind of sink", "pulsar://x", "sink: Unsupported output sink 'pulsar://x'"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			Config{Sink: tc.text}.Validate(func(key string, err error) { got = append(got, key+": "+err.Error()) })
			if text := strings.Join(got, "\n"); !strings.HasPrefix(text, tc.want) || (text == "") != (tc.want == "") {
				t.Errorf("got %q, want %q", text, tc.want)
			}
		})
	}
}

// stuck is a destination that takes nothing until it is let go.
type stuck struct {
	sinktest.Recorder
	free chan struct{}
}

func (s *stuck) Write(ctx context.Context, messages []graph.Message) (int, error) {
	select {
	case <-s.free:
		return s.Recorder.Write(ctx, messages)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// With on_full=block an answer waits for room in the queue, but its row does not, and
// neither do those who read.
func TestASinkThatBlocksHoldsAnswersAndNotRows(t *testing.T) {
	to := &stuck{free: make(chan struct{})}
	r := open(t, t.TempDir())
	lines := sink.NewLines(sink.LinesOptions{
		Name: Name, About: Name, Kind: sink.KindFile, OnFull: sink.Block, Transport: to, Retry: sink.DefaultRetry(), BatchMax: 1, Capacity: 1,
		Lost: r.lost, Log: r.log.Logger(),
	})
	system := actorstest.System(t, actors.Options{MaxRestarts: 10})
	if _, err := system.Spawn(lines.Cell(), lines.Produce); err != nil {
		t.Fatal(err)
	}
	r.feed(lines)
	const requests = 5 // of which two find room
	answered := make(chan struct{}, requests)
	for range requests {
		go func() {
			r.record(t.Context(), Record{Method: "POST", Endpoint: "/x", Status: 200})
			answered <- struct{}{}
		}()
	}
	begin := time.Now()
	for r.page(t, All()).Count < requests {
		if time.Since(begin) > patience {
			t.Fatal("rows wait for the sink")
		}
	}
	r.prune()
	close(to.free)
	for range requests {
		<-answered
	}
	system.DrainControl(t.Context())
	if got := to.Lines(); len(got) != requests || r.counts() != fmt.Sprint(requests, 0) {
		t.Errorf("%d lines, %s, want %d and no error", len(got), r.counts(), requests)
	}
}
