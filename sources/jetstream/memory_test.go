package jetstream_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

// excerpts is an intake that keeps the beginnings of messages that are too long.
type excerpts struct {
	mu  sync.Mutex // guards all
	all [][]byte
}

func (*excerpts) Put(_ context.Context, run []graph.Line) (int, error) { return len(run), nil }

func (x *excerpts) Oversize(_ context.Context, excerpt []byte, token graph.Token) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all = append(x.all, excerpt)
	token.Settle()
	return nil
}

func (x *excerpts) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.all)
}

// A dead letter that waits is charged with the beginning of its message, so it keeps no more.
func TestTheBeginningOfALongMessageKeepsNothingElse(t *testing.T) {
	const many, size = 30, 3 << 20
	s := natstest.Start(t, func(o *server.Options) { o.MaxPayload = 4 << 20 })
	long := strings.Repeat("x", size)
	var all []string
	for range many {
		all = append(all, long)
	}
	publish(t, s, "EVENTS", "events.>", "events.a", all...)
	src := open(t, options(t, s, "events.>"))
	x := new(excerpts)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- src.Run(ctx, x) }()
	wait(t, "all messages", func() bool { return x.count() == many })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	shut(t, src)
	held := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	with := held()
	runtime.KeepAlive(x)
	x = nil
	if got := with - held(); got > many*size/10 {
		t.Errorf("%d beginnings keep %d bytes", many, got)
	}
}
