// Package literal finds, in one look at a text, which of many thousand literals
// it equals, begins with, ends with or contains.
//
// Literals and texts are folded by the caller; everything here compares bytes.
// What is built once is never changed and may be shared.
package literal
