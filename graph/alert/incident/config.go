package incident

import "github.com/sluicehq/sluice/graph/selector"

// Mode is what makes results belong together.
type Mode string

// The modes.
const (
	GroupBy     Mode = "group_by"     // they have the same values
	EntityGraph Mode = "entity_graph" // they share a value, directly or by way of others
)

// Include is what incidents keep of their results.
type Include string

// What incidents keep.
const (
	Refs    Include = "refs"    // rule and level
	Results Include = "results" // results without their events
)

// Config says how results are grouped. Times are seconds.
type Config struct {
	Mode     Mode
	By       []selector.Selector // of GroupBy
	Entities []selector.Selector // of EntityGraph

	Wait     int64 // from the first result to the first record
	Interval int64 // from one record of news to the next
	Repeat   int64 // from any record to its repetition, 0 for none
	Resolve  int64 // without results, after which an incident has ended

	Include        Include
	MaxOpen        int      // incidents at a time
	MaxEntities    int      // values of a selector that an incident shows
	MaxResults     int      // refs, and results, that an incident keeps
	MaxCardinality int      // how often a value occurs before it no longer joins two incidents
	StopValues     []string // never join anything
	NATSSubject    string   // of records, "" for that of the sink
}
