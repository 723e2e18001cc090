// Package event says what an event is and how a name finds its values.
//
// An event is never turned into a tree. A Value is a slice of the JSON text with its
// type; paths, texts, numbers and times are read from the slice on demand. The
// package expects validated JSON and does not check it again: text that is not JSON
// may panic.
package event
