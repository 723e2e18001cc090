// Package mailbox is the machinery below every actor: the mailbox with its lanes,
// outboxes to the next actor, workers, isolation of panics, typed questions, and the
// end of an actor. It knows nothing of what the data means.
//
// A Cell is everything of an actor that outlives a panic: its mailbox, its
// outgoing elements, its workers and its counters. The actor itself, the value
// with the Receive method, is made anew after one. The system that runs the actor
// is the cell's Host. The actor library spawns, supervises and routes; data does
// not go through its Send but through a Lane, which is bounded.
//
// An actor never waits inside a step. When its successor has no room, the cell
// keeps what is outgoing and holds the data lane; control is served meanwhile, so
// every actor can always be asked. A goroutine exists for an actor only while it
// has mail.
package mailbox
