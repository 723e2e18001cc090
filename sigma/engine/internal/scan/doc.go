// Package scan reads a line of JSON once, strictly, and lists what a rule set
// can ask about it.
//
// The outcome is a run of cells: which field, which type, and where the value
// stands in the line. No tree is built and nothing is copied. Names are found
// through a Table that is fixed when the rules are compiled; a Scanner belongs
// to one goroutine and learns from line to line which key follows which, so
// that most keys cost one comparison.
package scan
