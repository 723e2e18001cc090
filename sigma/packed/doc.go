// Package packed writes plain data as compact bytes and reads it back as it
// was: structs of exported fields, slices, arrays, maps, pointers, numbers,
// strings and JSON values. Nil and empty stay different, json.Number stays one.
//
// Append and Read know any such type. A type with sharing or secrets of its own
// says itself how it is written, with the Append functions and a Reader.
//
// The bytes carry no description of the types. They are for a reader of the same
// build, which the caller makes sure of. Foreign bytes give an error or some
// value of the right type, never a panic.
package packed
