// Package correlation evaluates Sigma's correlation rules: it counts the matches of
// detection rules over time windows.
//
// Compile makes a Program of correlation rules. In parallel, an Extractor per worker
// writes what the Program needs of each event into a record. One Engine then
// processes the records in the order of the events and returns the results that
// fire. The Engine belongs to one goroutine, reads no clock and starts no goroutine:
// the wall time is an argument.
//
// An event costs time proportional to the number of correlations it feeds and
// independent of the size of their windows (logarithmic for percentile and median).
// Rollback undoes an event between Begin and Commit. Export returns a View of the
// whole state, which other goroutines may encode or inspect while the Engine goes
// on; Restore reads an encoded state, and Swap keeps the state over a reload.
//
// # Memory
//
// The number of groups is limited, and so is the number of tombstones: suppression
// times of groups that were removed. A group with one entry and a short key takes
// about 280 bytes when it counts events, 360 when it holds numbers and 430 when it
// counts texts, tables and timer included. A view copies one pointer for each group;
// a group that changes while a view is in use takes another 200 bytes until the view
// is released.
package correlation
