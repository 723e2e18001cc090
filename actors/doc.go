// Package actors is what all shells share: the mailbox with its lanes, the
// outlets to the next stage, workers, supervision, the guard against poisonous
// events, typed questions, and the records operators look at.
//
// A Cell is everything of an actor that outlives a panic: its mailbox, its
// outgoing elements, its workers and its counters. The actor itself, the value
// with the Receive method, is made anew after one, and gets its state and the
// run it was at handed over. The actor library spawns, supervises and routes;
// data does not go through its Send but through a Lane, which is bounded.
//
// An actor never waits inside a step. When its successor has no room, the cell
// keeps what is outgoing and holds the data lane; control is served meanwhile, so
// every stage can always be asked. A goroutine exists for an actor only while it
// has mail.
package actors
