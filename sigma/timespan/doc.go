// Package timespan reads the ways in which rules and configuration write
// durations and sizes: the timespans of Sigma, the long durations of the
// configuration, and byte sizes.
package timespan
