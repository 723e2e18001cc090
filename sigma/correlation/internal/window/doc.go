// Package window keeps the entries of one group of a correlation, in the order
// of their timestamps, beside the aggregate over them.
//
// Adding at the end and dropping from the front take constant time whatever the
// window holds (logarithmic for ranks); a late entry shifts, now and then copies,
// the one piece of at most 512 entries it falls into. There is one implementation for each shape of
// entry:
//
//	Counts    timestamps, run-length encoded: 8 bytes for each second with entries
//	Distinct  timestamp and text: 16 bytes an entry, about 55 bytes for each
//	          distinct text, and longer ones their length beside
//	Numbers   timestamp and number: 16 bytes an entry; with ranks another 12 to 17
//	          bytes for each distinct number
//	Hits      one Counts for each member
//
// # Sharing
//
// Entries live in pieces. What a window left behind by Fork can see is never
// overwritten: new entries go behind it, and a late entry replaces a piece older
// than the fork by a copy. So Fork costs the same however long the window is, and
// what was left behind may be read (All, Append, Len, First, Last) from another
// goroutine while the fork goes on. The aggregate moves to the fork.
//
// What an action cleared goes on in what is left of its memory, when that is small.
//
// Save costs as little as Fork. Late entries may change what it holds, so they tell an
// Undo how to take them back.
package window
