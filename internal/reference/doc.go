// Package reference evaluates events the slow and obvious way: it decodes the
// whole event, tries every rule in load order and writes the result lines from
// scratch.
//
// It is the oracle of the engine's tests and of the corpus benchmark. It shares no
// matching code with the engine, so a fault in one of them shows as a difference.
// It is not meant for production.
package reference
