package sources

import (
	"sync/atomic"

	"github.com/sluicehq/sluice/graph"
)

// standing says how far a message has come.
type standing uint8

const (
	working standing = iota // somebody may still do something with it
	ended                   // waits for a save
	due                     // its acknowledgement is to be sent, or not confirmed
)

type message[M any] struct {
	ledger   *Ledger[M]
	handle   M
	position graph.Position
	epoch    atomic.Uint64 // in which parse took it; 0 before that
	standing standing
	awaited  bool // known from the restored head, and not delivered since
	gone     bool // its stream is no more
}

// before reports whether the message lies before the barrier that ended the epoch.
// What never entered parse and is to be acknowledged is in every state.
func (m *message[M]) before(epoch uint64) bool {
	e := m.epoch.Load()
	return e != 0 && e <= epoch || e == 0 && m.standing == due
}

// Position is where the message stands, and in which stream.
func (m *message[M]) Position() graph.Position { return m.position }

// Entered notes the side of the next barrier on which the message lies.
func (m *message[M]) Entered(epoch uint64) { m.epoch.Store(epoch) }

// Ended has the message acknowledged, at once or when it is saved.
func (m *message[M]) Ended() {
	l := m.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.gone {
		return
	}
	if l.o.Snapshot && m.epoch.Load() != 0 {
		m.standing = ended
		return
	}
	l.end(m)
}
