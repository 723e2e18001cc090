// Package result holds what detection leaves: the immutable handle of a rule,
// and detections that say which rule an event met, and why.
//
// A detection writes itself as the native line, one JSON object. Its texts live in
// the Batch that made it and stay valid for as long as they are referenced.
package result
