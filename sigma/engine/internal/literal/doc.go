// Package literal finds, in one look at a text, which of many thousand literals
// it equals, begins with, ends with or contains.
//
// Literals are folded by the caller, and so are texts with bytes outside ASCII. In
// other texts the case of letters does not matter. What is built once is never
// changed and may be shared.
package literal
