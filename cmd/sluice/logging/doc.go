// Package logging writes the process's log lines to stderr.
//
// A line is one JSON object, or one line of text for people. Every logger
// carries a target, the name of the component that logs, and a filter decides for
// each target which levels are written.
package logging
