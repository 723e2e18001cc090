// Package program compiles correlations: what to extract from events, how matches
// are grouped, when a group fires, and which correlations depend on which.
package program
