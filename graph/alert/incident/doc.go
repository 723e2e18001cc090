// Package incident groups results into incidents, and says when there is something to
// report of them.
//
// A Store assigns results. In one mode results belong together when they have the same
// values; in the other when they share a value, so that a result which shares values with
// two incidents makes them one. Each tick gives the records that are due: the first of an
// incident, news of it, repetitions, and its end.
//
// The times are arguments, in Unix seconds, and may go back. A Store is for one goroutine.
// Its records and views never change: what they show is copied before the Store changes it.
// So an export costs a list of pointers, and the Store pays for what it changes afterwards.
package incident
