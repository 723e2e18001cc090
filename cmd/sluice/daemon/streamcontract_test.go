package daemon

import (
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

// ackWait is longer than a machine stands still.
const ackWait = 6 * time.Second

// origin is a stream that is reached in a mode.
type origin struct {
	*Stream
	mode modetest.Mode
}

func (o origin) Connect(t *testing.T, snapshot bool) sources.Redelivering {
	t.Helper()
	near, far := o.mode.Pipe(t)
	go o.Serve(far)
	options := sources.LedgerOptions{Stream: "s", Consumer: "c", Snapshot: snapshot, Limit: 1000}
	return NewStreamSource(near, options, ackWait/6)
}

func streamOf(m modetest.Mode, lines []string) origin {
	s := NewStream(StreamOptions{Pending: 1000, AckWait: ackWait})
	s.Publish(lines...)
	return origin{s, m}
}

func TestAStreamKeepsTheContractOfSources(t *testing.T) {
	var last origin
	sourcetest.Contract(t, sourcetest.Harness{
		New: func(t *testing.T, m modetest.Mode, lines []string) sources.Source {
			t.Helper()
			last = streamOf(m, lines)
			return last.Connect(t, false)
		},
		Settled: func() []int { return last.Acks() },
	})
}

func TestAStreamKeepsTheContractOfRedelivery(t *testing.T) {
	sourcetest.Redelivery(t, sourcetest.RedeliveryHarness{
		New:     func(_ *testing.T, m modetest.Mode, lines []string) sourcetest.Origin { return streamOf(m, lines) },
		AckWait: ackWait,
	})
}
