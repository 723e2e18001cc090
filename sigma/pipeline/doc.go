// Package pipeline rewrites Sigma rules before they are compiled: field names
// to those of an event schema, values to those of a site, conditions added or
// dropped.
//
// A Set is immutable. Apply works on a copy of the rule, so one loaded document
// can be rewritten again after a set has changed. Nothing here runs per event.
package pipeline
