// Package dedup folds results that repeat into the alert that the first of them opened.
//
// A Store tells results apart by their fingerprint: the key of the rule and the values of
// the configured selectors. The first result of a fingerprint opens an alert. As long as it
// is active, the results that come behind are folded into it: they are counted, and nothing
// else is kept of them. A tick reports alerts with new results once in a while, and those
// that have been idle for long, which are over.
//
// Alerts are found by the full text of the fingerprint. What records show is a digest of 64
// bits, which anybody can make collide; so of two alerts that are active at a time, the
// later one is shown with more digits.
//
// A Store never drops an alert to make room for another one: results that find it full are
// not folded. It is full when there are too many alerts, or when their keys, fields and
// samples hold too many bytes.
package dedup
