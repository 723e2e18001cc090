// Package shell knows the command line as a shell sees it: which words a command and its
// flags are, what may follow them, and the manual page of all. It runs nothing.
package shell
