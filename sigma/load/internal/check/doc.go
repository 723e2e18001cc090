// Package check finds what keeps a rule, or a filter, from being compiled, and what
// its author should know: conflicts of modifiers, values that mean nothing, names
// that nothing has, and costs beyond the budgets of a document.
//
// It knows trees and neither files nor documents: what it finds names lines and
// reasons. It finds the same whoever asks.
package check
