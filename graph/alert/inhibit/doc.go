// Package inhibit keeps back results while a more important one is fresh.
//
// A Rule says which results are sources and which are targets. A target is inhibited if a
// source with an equal key was seen less than the rule's duration ago, unless it is a
// source of the rule itself. Only the order of arrival counts: a target in front of its
// source passes.
//
// An Index holds the sources, at most MaxSources of them. It is driven by the time that its
// callers pass, in whole seconds, which may go back.
package inhibit
