// Package extract takes what is wanted out of a JSON value, by a program in jq, JSONPath
// or CEL.
//
// All three mean the same by "no data": no output, no node, or null. Several outputs are
// an array of them in order. All end in time and within a bounded amount of memory: a run
// ends with its context, when it has taken so many steps or allocated so much, which grows
// with the length of the value, and when what it makes is longer than the caller wants.
// None reads or changes anything but values.
//
// Packages jq, jsonpath and cel have the languages. Whoever has to do with many small
// values, as the event filter does, uses them at first hand.
package extract
