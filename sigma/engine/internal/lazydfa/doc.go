// Package lazydfa decides whether a text matches a regular expression, mostly in one
// table step per byte.
//
// A Program is the standard library's parsed expression with its bytes sorted
// into classes; it is immutable. A Machine builds the states of the automaton as
// texts need them. Their memory is bounded, of each machine and of all machines of a
// Pool: states are dropped and built again. A text for which that does not pay, or that
// has other characters, is judged 64 characters at a time, by a step for each part of
// the expression.
package lazydfa
