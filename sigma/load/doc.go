// Package load reads rule files into a Collection: the detection and
// correlation rules that passed every check, and what was rejected and why.
//
// A faulty document never costs more than itself and the correlations that
// refer to it. All problems of all documents are found in one pass: reading,
// merging of filters, pipelines, and the checks that a compiler would make. The
// engine gets sound rules only.
//
// What a document costs grows with its size, up to budgets over which it is rejected
// with its cost. Documents that one template makes share what they have in common.
package load
