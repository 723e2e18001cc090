// Package daemon is the composition root: it alone knows all parts and puts them
// together into the running service.
//
// New builds everything and on failure unwinds what it built, Start opens the
// way from sinks towards sources, Stop drains in graph order. Signals become
// calls in Run, so everything else can be driven by a test.
package daemon
