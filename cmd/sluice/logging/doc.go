// Package logging writes the process's log lines to stderr.
//
// A line is one JSON object, or one line of text for people. Every logger
// carries a target, the name of the part that speaks, and a filter decides per
// target which levels are written (specification part 23 section 14).
package logging
