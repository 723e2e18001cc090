// Package lazydfa decides whether a text of ASCII characters matches a regular
// expression, in one table step per byte.
//
// A Program is the standard library's parsed expression with its bytes sorted
// into classes; it is immutable. A Machine builds the states of the automaton as
// texts need them. Their memory is bounded, of each machine and of all machines of a
// Pool: states are dropped and built again. A text for which that does not pay is
// left to the caller, who asks the standard library, whose time is linear, too.
package lazydfa
