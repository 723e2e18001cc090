// Package scope says which results a feature is for: by rule, tag and level.
//
//	scope:
//	  rules: [r-os, "Odd *"]     # ids, or globs over titles
//	  tags: [attack.*]           # tags, or what they begin with
//	  levels: [high, critical]
//
// A result has to match every list that is not empty, and of each list one entry. Case
// matters everywhere.
//
// An entry of rules without *, ? and [ is the id of a rule. Any other is a glob over the
// whole title: * is any run of characters, ? one character, [abc] and [a-z] one of those,
// [!abc] any other one, {a,b} one or the other; a backslash takes the meaning from the
// character behind it.
//
// An entry of tags that ends in * admits the tags that begin with the text before it, so
// attack.* admits attack.t1059, but neither attack nor attackers.x. A result whose rule
// states no level passes no list of levels.
package scope
