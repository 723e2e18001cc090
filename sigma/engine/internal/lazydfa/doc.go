// Package lazydfa decides whether a text of ASCII characters matches a regular
// expression, in one table step per byte.
//
// A Program is the standard library's parsed expression with its bytes sorted
// into classes; it is immutable. A Machine builds the states of the automaton as
// texts need them. Their number is bounded: a machine that needs too many gives
// up, and the caller asks the standard library, whose time is linear, too.
package lazydfa
