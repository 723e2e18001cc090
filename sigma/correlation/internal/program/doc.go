// Package plan compiles correlations: what to extract from events, how matches
// are grouped, when a group fires, and which correlations build on which.
package program
