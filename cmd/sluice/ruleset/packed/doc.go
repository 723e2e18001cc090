// Package packed writes plain data as compact bytes and reads it back as it
// was: structs of exported fields, slices, arrays, maps, pointers, numbers,
// strings and JSON values. Nil and empty stay different, json.Number stays one.
//
// The bytes carry no description of the types. They are for a reader of the same
// build, which the caller makes sure of. Foreign bytes give an error or some
// value of the right type, never a panic.
package packed
