package ingest

import (
	"context"
	"testing"
)

// leaving is a context that ends at the moment at which somebody gives room back.
type leaving struct {
	context.Context
	room *budget
	size int64
}

func (l leaving) Done() <-chan struct{} {
	l.room.leave(l.size)
	return l.Context.Done()
}

func TestRoomThatIsThereWhenTheWaitEndsIsTaken(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 { // a select takes either
		room := newBudget(10)
		if err := room.enter(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		if err := room.enter(leaving{over, room, 10}, 7); err != nil || room.left != 3 {
			t.Fatalf("got %v and %d bytes left, want room, and 3", err, room.left)
		}
	}
}
