// Package reference evaluates events the slow and obvious way: it decodes the
// whole event, tries every rule in load order and writes the result lines from
// scratch.
//
// It is the oracle of the tests and benchmarks in this directory, which compare the
// engine with it. It shares no matching code with the engine, so a fault in one of
// them shows as a difference. All of it is test code, so nothing can import it.
package reference
