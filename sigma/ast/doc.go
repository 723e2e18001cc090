// Package ast holds Sigma documents as values: detection rules, correlation rules
// and filters, their levels and logsources, and the tree of conditions on an event.
//
// The tree is the one form of a rule between reading and compiling: package load
// makes it, pipelines rewrite it, and the engine compiles it. Values of this package
// are plain data. Nothing changes them once they are loaded, so any goroutine may
// read them. Every type encodes to JSON and back without loss.
package ast
