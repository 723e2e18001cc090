// Package filter makes the events of a line what a jq program or a JSONPath query makes
// of the line's JSON values.
//
// A program sees each value as it stands, a top-level array whole. Each of its outputs is
// an event, in order, and is not separated further; null is none. An error of the program
// ends the value, and one of its bounds ends the line: the events in front of it stand.
// Lines whose program has not come to its end are counted, never refused.
package filter
