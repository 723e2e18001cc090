// Package reference evaluates events the slow and obvious way: it decodes the
// whole event, tries every rule in load order and writes the result lines from
// scratch.
//
// It is the oracle of the engine's tests and of the corpus benchmark, written
// from the specification alone (part 10, with part 11 section 4 and part 14
// section 9) and sharing no matching code with the engine. Where the two
// disagree one of them is wrong, and the text decides which. Nothing here is
// meant for production.
package reference
