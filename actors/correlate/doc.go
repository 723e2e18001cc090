// Package correlate is the stage where batches end: it takes them in order of
// arrival, lets the correlations count what concerns them, and merges the results
// of each line. A line with results goes on along the result path, one that could
// not be read goes to the dead letter queue. Every other line ends here: its token
// is settled.
//
// The stage owns the windows of all correlations. An event that panics leaves no
// trace in them: what it touched is put back, it is tried once more and then
// quarantined. When a batch comes with another rule set, the windows are carried
// over before its first line. The state that a barrier or a question sees is that
// between two lines.
package correlate
