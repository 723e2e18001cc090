// Package result holds what detection leaves: the immutable handle of a rule,
// and detections that say which rule an event met, and why.
//
// A detection writes itself as the native line of specification part 10
// section 7. Its texts live in the Batch that made it and stay valid as long as
// somebody holds them.
package result
