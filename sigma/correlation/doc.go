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
// Limits bound the groups by their number and by what they take. Every group has an
// account of its key, its entries and the events that it keeps, tables and timer
// included; it is at most twice and at least half of what the heap has of it, beside
// texts of events that several groups share. Tombstones, the suppression times of groups that were
// removed, are in the account. It depends on what a group holds, not on how it came to
// that, so state that was restored is evicted like any other.
//
// A text of more than 1 KiB, as a part of a key or as one that is counted, takes 150
// bytes: its length, its first 128 bytes and a hash of 128 bits, whose key is a part of the state.
// Two are equal when all three are.
//
// A group with one entry and a short key takes about 280 bytes when it counts events,
// 360 when it holds numbers and 430 when it counts texts. A view copies one pointer for
// each group; a group that changes while a view is in use takes another 200 bytes until
// the view is released. An order of groups takes eight bytes for each.
package correlation
