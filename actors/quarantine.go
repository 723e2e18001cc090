package actors

import (
	"bytes"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Quarantine moves a copy of a line whose step panicked twice to the dead letter
// queue, with what mailbox.Isolate gave as the cause. Without a queue (a nil outbox)
// the line is settled: it is lost, which is logged already.
func Quarantine(c *mailbox.Cell, to *mailbox.Outbox[graph.DeadLetter], original []byte, t graph.Token, cause error) {
	if to == nil {
		t.Settle()
		return
	}
	to.Push(graph.DeadLetter{Original: bytes.Clone(original), Error: cause.Error(), Stage: c.Name(), Token: t})
}
