// Package evtx reads files of the Windows event log (EVTX) and renders their records as JSON.
//
// A file is read chunk by chunk, 64 KiB at a time, so a log of any size takes the same
// memory. Its records come in the order in which they were written, also from a log that has
// wrapped around. A record that cannot be read is told and passed over; what follows it is
// found again. Checksums are not verified: a log that was copied while Windows wrote to it
// has stale ones and whole records.
//
// The content of a record is binary XML: a template with the elements, and the values that
// differ from record to record. The JSON has the form that evtx_dump and the public rules'
// test data have: an element is a member named after it, attributes stand in #attributes and
// text beside them in #text, and the Data elements of EventData are members named by their
// attribute Name.
//
// Files are often damaged, and may be made to do damage. Whatever a file holds, reading it
// ends: depth, work and output are bounded for each record.
package evtx
