// Package event says what an event is and how a name finds its values.
//
// An event is never turned into a tree. A Value is a slice of the JSON text
// with its type; paths, texts, numbers and times are read from that slice when
// somebody asks. Everything here takes JSON that was validated before and never
// checks it again.
package event
