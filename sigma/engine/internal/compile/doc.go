// Package compile turns rules into what an evaluator needs: the distinct
// predicates of all rules, each once, and for every rule an expression over
// them, a short program, and the witnesses that decide when to run it.
package compile
