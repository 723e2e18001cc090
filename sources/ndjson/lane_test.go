package ndjson_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sources/ndjson"
)

// full is the input queue of a stage that takes nothing from it.
type full struct{ stage actors.Stage[graph.Line] }

var errFull = errors.New("there is no room")

func (f *full) Put(_ context.Context, run []graph.Line) (int, error) {
	if n := f.stage.Lane().TryPut(run); n < len(run) {
		return n, errFull
	}
	return len(run), nil
}

func (f *full) Oversize(context.Context, []byte, graph.Token) error { return nil }

// The bound of the input queue is what its lines hold, also when each came alone.
func TestWaitingRequestsHoldWhatTheQueueMayHold(t *testing.T) {
	const bound = 8 << 20
	for _, size := range []int{1, 100, 500, 2000, 5000} {
		t.Run(fmt.Sprintf("lines of %d bytes", size), func(t *testing.T) {
			held := func() int {
				var m runtime.MemStats
				runtime.GC()
				runtime.GC() // what pools have
				runtime.ReadMemStats(&m)
				return int(m.HeapAlloc)
			}
			before := held()
			queue := &full{actors.NewStage(actors.StageOptions{Capacity: 1_000_000, Bytes: bound}, actors.Shape[graph.Line]{Name: "parse", Size: graph.SizeOfLine})}
			in := ndjson.NewIntake(queue, ndjson.DefaultMaxBody, nil)
			lines := 0
			for {
				_, _, err := in.Ingest(t.Context(), strings.NewReader(strings.Repeat("x", size)+"\n"), ndjson.Options{})
				if err != nil {
					break
				}
				lines++
			}
			got := held() - before
			if got > bound+256<<10 {
				t.Errorf("%d lines hold %d bytes in a queue of %d", lines, got, bound)
			}
			if least := bound / (4*size + 1<<10); lines < least {
				t.Errorf("%d lines fit, want at least %d", lines, least)
			}
			runtime.KeepAlive(queue)
		})
	}
}
