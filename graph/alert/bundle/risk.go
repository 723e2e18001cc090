package bundle

import (
	"encoding/json"
	"strings"

	"github.com/sluicehq/sluice/sigma/event"
)

// Entity is an entity that bears risk.
type Entity struct {
	Type        string `json:"entity_type"`
	Value       string `json:"entity_value"`
	Score       int64  `json:"score"`
	TacticCount int    `json:"tactic_count"`
	SourceCount int    `json:"source_count"`
	ResultCount int    `json:"result_count"`
	WindowStart int64  `json:"window_start" doc:"In seconds since 1970"`
	WindowEnd   int64  `json:"window_end" doc:"In seconds since 1970"`
	LastFired   *int64 `json:"last_fired,omitempty" doc:"In seconds since 1970; absent until the first time"`
}

// Reason is why an entity belongs to an incident.
type Reason string

// The reasons.
const (
	RiskObject Reason = "risk_object" // a result that the incident holds names it
	GroupKey   Reason = "group_key"   // the incident is grouped by it, and holds no result that names any
)

// Reasons are all of them.
var Reasons = [...]Reason{RiskObject, GroupKey}

// Overlap is an entity that belongs to the incident.
type Overlap struct {
	MatchedOn Reason `json:"matched_on"`
	Entity
}

// object names an entity.
type object struct{ kind, value string }

// overlaps returns the entities that belong to the incident, in their order. Keys are looked
// at only when no result names any entity: results know better.
func (in *incident) overlaps(entities []Entity) []Overlap {
	all := make([]Overlap, 0)
	reason, named := RiskObject, in.named()
	if len(named) == 0 {
		reason, named = GroupKey, in.keyed()
	}
	for _, e := range entities {
		kind := e.Type
		if reason == GroupKey {
			kind = strings.ToLower(kind)
		}
		if named[object{kind, e.Value}] {
			all = append(all, Overlap{reason, e})
		}
	}
	return all
}

// named are the entities that the results name.
func (in *incident) named() map[object]bool {
	all := make(map[object]bool)
	for _, line := range in.Results {
		var r struct {
			Enrichments struct {
				Objects []struct {
					Type  string `json:"type"`
					Value string `json:"value"`
				} `json:"risk.objects"`
			} `json:"enrichments"`
		}
		if json.Unmarshal(line, &r) != nil {
			continue // an enricher wrote something else under that name
		}
		for _, o := range r.Enrichments.Objects {
			all[object{o.Type, o.Value}] = true
		}
	}
	return all
}

// keyed are the texts by which the incident is grouped, as entities whose type is the last
// part of the selector in lower case.
func (in *incident) keyed() map[object]bool {
	all := make(map[object]bool)
	for selector, value := range members(in.GroupBy) {
		if value.Type == event.String {
			all[object{lastPart(selector), unquoted(value)}] = true
		}
	}
	for selector, values := range members(in.Entities) {
		for value := range values.Elements {
			all[object{lastPart(selector), unquoted(value)}] = true
		}
	}
	return all
}

func lastPart(selector string) string {
	return strings.ToLower(selector[strings.LastIndexByte(selector, '.')+1:])
}
