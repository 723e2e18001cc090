// Package engine evaluates events by all rules of a set at once.
//
// A Set is compiled once, never changes and is shared. Everything mutable
// belongs to a Worker: one per goroutine. A worker decodes lines into Events and
// evaluates them in a second step, perhaps in another goroutine and by another
// worker of the same set. Whatever the engine leaves out to be fast, its results
// are those of trying every rule on every event in load order.
package engine
