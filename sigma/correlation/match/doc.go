// Package match carries what one event means to the correlations from the
// workers that detect, in parallel, to the one place that correlates, in order.
//
// A worker reads every field a correlation may ask for, encodes the group keys
// and hashes them, and writes it all as one Record: a piece of bytes without
// pointers, so that a batch of them costs the collector nothing. Correlating
// then looks at no event again, and trusts what it reads: a record is written for
// one compiled set of correlations, in the same process. One that comes from
// another process is adopted first.
package match
