// Package sigma holds Sigma documents as values: detection rules, their levels
// and logsources, and the tree of what a rule demands of an event.
//
// The tree is the one form in which a rule exists between reading and
// compiling. The loader makes it, processing pipelines rewrite it, the cache
// stores it, the command line prints it, and the engine compiles only from it.
// Values of this package are plain data: once loading is over nobody changes
// them, so they may be read from any goroutine. Every type encodes to JSON and
// back without loss.
package sigma
