// Package evaluate is the stage that evaluates the rules on events: as many batches
// at once as there are workers, each by the rule set it is stamped with.
//
// For rules that count over several events it writes down what they have to know of
// each, so that only the counting takes events one after another, and withholds the
// results that exist for those rules alone.
//
// An event that panics the engine twice is quarantined and nothing else suffers.
// Batches leave in the order in which they came.
package evaluate
