// Package cel evaluates expressions of the Common Expression Language over JSON values.
//
// The value is the variable data. Its integers are of the type int, those above the range
// of it uint, other numbers double, and numbers of different types compare by value. There
// are the macros and functions of the language's standard, none of which reads or changes
// anything but values.
//
// An evaluation may take so many steps, which are counted, not measured. What an expression
// makes is charged by its size, so that it bounds the memory, too. An evaluation ends with
// its context.
package cel
