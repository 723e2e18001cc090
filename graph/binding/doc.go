// Package binding says what the references of templates stand for in results:
//
//	${detection.rule.title}  ${detection.rule.id}  ${detection.rule.level}
//	${detection.tags}                 joined by commas
//	${detection.fields.<name>}        value of the first matched field of that name
//	${detection.event}                the event, if it is included
//	${detection.event.<path>}         by dots: keys of objects, positions in arrays
//	${detection.enrichments.<key>}    the whole rest is one key; failing that, a path
//
//	${correlation.rule.title}  and .id, .level; ${correlation.tags}, ${correlation.enrichments.<key>}
//	${correlation.type}  ${correlation.timespan_secs}  ${correlation.aggregated_value}
//	${correlation.group_key}          field=value pairs joined by commas
//	${correlation.group_key.<field>}  value of the first pair of that field
//
// What a result does not have is the empty text, and null in JSON. Tags and group keys
// that are joined are texts, never null.
package binding
