// Package command is the command line: one file per command, each of which
// parses its flags and calls one function.
//
// Data goes to stdout; progress, summaries and warnings to stderr. Run never
// ends the process: it returns the exit code (docs/operations.md).
package command
