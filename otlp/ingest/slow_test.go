package ingest

import (
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/sources/sourcetest"
)

// stalling is a body that has begun and does not go on before release is closed.
type stalling struct {
	begin   int
	began   chan<- struct{}
	release <-chan struct{}
}

func (s *stalling) Read(p []byte) (int, error) {
	if s.begin > 0 {
		n := min(s.begin, len(p))
		clear(p[:n])
		s.begin -= n
		return n, nil
	}
	s.began <- struct{}{}
	<-s.release
	return 0, io.EOF
}

// Requests hold what has come of them, whatever they say.
func TestSlowRequestsHoldWhatHasCome(t *testing.T) {
	const clients, begin = 1000, 3000
	n := newTestIntake(t, sourcetest.NewIntake(1))
	held := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc + m.StackInuse)
	}
	before := held()
	began, release, ended := make(chan struct{}, clients), make(chan struct{}), make(chan error, clients)
	for range clients {
		go func() {
			_, err := n.Post(context.Background(), Post{Body: &stalling{begin, began, release}})
			ended <- err
		}()
	}
	for range clients {
		<-began
	}
	if each := (held() - before) / clients; each > 16<<10 {
		t.Errorf("a request of which %d bytes have come holds %d", begin, each)
	}
	close(release)
	for range clients {
		var refused *Refusal
		if err := <-ended; !errors.As(err, &refused) || refused.Kind != Malformed {
			t.Fatalf("got %v, want that zeros are no request", err)
		}
	}
}

// zeros are a body of so many bytes.
type zeros struct{ left int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(z.left, len(p))
	clear(p[:n])
	z.left -= n
	return n, nil
}

// Large requests wait for room, and not for ever; small ones need none.
func TestLargeRequestsShareRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const large = 1 << 20
		const holders = largeBodies * large / (large + 1 - freeBody) // what is left is too little for another
		m, _ := newTestMetrics(t)
		n := NewIntake(sourcetest.NewIntake(1), large, m)
		began, release, ended := make(chan struct{}, holders), make(chan struct{}), make(chan error, holders+1)
		for range holders {
			go func() {
				_, err := n.Post(context.Background(), Post{Body: &stalling{large - 1, began, release}})
				ended <- err
			}()
		}
		for range holders {
			<-began
		}
		refusedAs := func(err error, kind RefusalKind) {
			t.Helper()
			var refused *Refusal
			if !errors.As(err, &refused) || refused.Kind != kind {
				t.Errorf("got %v, want a refusal of kind %d", err, kind)
			}
		}
		_, err := n.Post(t.Context(), Post{Body: &zeros{freeBody}})
		refusedAs(err, Malformed)
		begin := time.Now()
		_, err = n.Post(t.Context(), Post{Body: &zeros{large}})
		refusedAs(err, Exhausted)
		if waited := time.Since(begin); waited != budgetWait {
			t.Errorf("waited %s, want %s", waited, budgetWait)
		}
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			_, err := n.Post(ctx, Post{Body: &zeros{large}})
			ended <- err
		}()
		synctest.Wait()
		leave()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a client that has left: %v", err)
		}
		go func() {
			_, err := n.Post(t.Context(), Post{Body: &zeros{large}})
			ended <- err
		}()
		synctest.Wait()
		close(release)
		for range holders + 1 {
			refusedAs(<-ended, Malformed)
		}
		if left := n.budget.left; left != largeBodies*large {
			t.Errorf("%d bytes of room are left, want %d", left, largeBodies*large)
		}
	})
}
