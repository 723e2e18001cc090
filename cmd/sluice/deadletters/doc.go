// Package deadletters reads files of dead letters and sends what they hold on its
// way again.
//
// A file is read once, from its beginning to its end, whatever its size: no more than
// one record and the batch under way are in memory. A line that is no dead letter is
// told and counted, and the next line is read.
//
// A replay is at least once: its progress is on the disk before the next batch
// begins, so one that is interrupted, however it ends, repeats at most the batch that was
// under way.
package deadletters
