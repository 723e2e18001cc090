// Package textset compares texts with sets of texts, and with rows of sets.
//
// A set is taken apart once. A lookup then costs steps for the text that is looked up,
// however many texts the set has. A row of sets stands for every text that one text of
// each set, one behind the other, makes; these are never built.
package textset
