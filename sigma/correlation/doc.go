// Package correlation counts matches over time: the correlation rules of a rule
// set and the windows they keep.
//
// Package plan compiles correlations. Workers extract what a plan wants to know
// of an event (package match); the one Engine takes the records in the
// order of the events and returns the results that fire. The Engine belongs to
// one goroutine, reads no clock and starts nothing: the wall time is an
// argument.
//
// An event costs time proportional to the correlations it feeds, never to what
// their windows hold (logarithmic for percentile and median). Between Begin and
// Commit an event can be undone. Export gives a View of the whole state, to be
// encoded or inspected elsewhere while the Engine goes on; Restore and Swap
// carry the state over a restart and to another rule set.
//
// # Memory
//
// There are at most as many groups as the limit says, and as many suppression
// times that outlived their group. A group with one entry and a short key costs
// about 280 bytes when it counts events, 360 when it holds numbers and 430 when it
// counts texts, tables and timer included; further entries cost what package
// window says. An export copies a pointer for each group, and each group it has
// seen costs another 200 bytes when next touched, until the export is let go.
package correlation
