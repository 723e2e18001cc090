// Package engine evaluates events against all rules of a set at once.
//
// A Set is compiled once, never changes and is shared. All mutable state belongs to
// a Worker: one per goroutine. A worker decodes lines into Events and evaluates them
// in a second step, which may run in another goroutine and on another worker of the
// same set. The results are those of trying every rule on every event in load order,
// whatever the engine skips to be fast.
package engine
