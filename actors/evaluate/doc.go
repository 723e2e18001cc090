// Package evaluate is the stage that evaluates the rules on events: as many batches
// at once as there are workers, each by the rule set it is stamped with.
//
// For correlations it writes down what they want to know of an event, so that
// only they themselves have to take events one after another, and withholds the
// results that exist for correlations alone.
//
// An event that panics the engine twice is quarantined and nothing else suffers.
// Batches leave in the order in which they came.
package evaluate
