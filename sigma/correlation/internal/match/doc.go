// Package match defines the record of an event that correlations process.
//
// The workers that detect write records in parallel, and one engine reads them in
// order. A worker reads every field that a correlation may need, encodes and hashes
// the group keys, and writes all of it as one Record: bytes without pointers, so that
// records cost the garbage collector nothing. The engine does not look at the event
// again. It trusts records: each is written for one program, in the same process.
package match
