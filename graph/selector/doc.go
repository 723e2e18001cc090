// Package selector reads single values out of results, and compares them:
//
//	rule                            id of the rule, else its title
//	level                           level in lower case
//	event.<path>                    value in the event, by keys of objects
//	match.<field>                   value of the first matched field of exactly that name
//	enrichment.<path>               the whole rest as one key, else by keys of objects
//	correlation.group_key.<field>   value of the first pair of exactly that name
//
// A value is absent if the result is of another kind, has no event or no such key, and
// if it is null in JSON. The text of a value is a string as it is, and compact JSON of
// anything else.
//
// A Matcher compares the text with a value or an expression; what is absent is the empty
// text. A set of Matchers matches when all do, and never when it is empty.
package selector
