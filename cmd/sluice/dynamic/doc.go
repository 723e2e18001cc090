// Package dynamic fetches dynamic sources once, for commands that look at values without a
// daemon.
//
// Nothing is kept between two commands: when a fetch fails, the default of the source counts
// if its policy says so, and otherwise there is no value.
package dynamic
