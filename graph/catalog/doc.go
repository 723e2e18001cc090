// Package catalog lists the rules of a rule set for people, with what they say of
// themselves, and counts what each of them meets.
//
// A rule that a reload brings again goes on with its count: it is the same one when it
// has the same id, or without an id the same file and title. Counts begin with the
// daemon.
package catalog
