package program

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
)

// fieldTable numbers the fields that are looked up. A field with a list of paths
// differs from the field that has the name of the first path.
type fieldTable struct {
	names    []string
	paths    [][]string
	hasPaths bool // some field has a list of paths
	numbers  map[string]int
}

// of numbers a field that s names.
func (t *fieldTable) of(s *ast.Correlation, name string) int {
	return t.number(name, s.Paths[name])
}

func (t *fieldTable) number(name string, paths []string) int {
	key := name
	if len(paths) > 0 {
		key, t.hasPaths = "\x00"+strings.Join(paths, "\x00"), true
	}
	n, ok := t.numbers[key]
	if !ok {
		n = len(t.names)
		t.numbers[key] = n
		t.names, t.paths = append(t.names, name), append(t.paths, paths)
	}
	return n
}

// idFields are the names under which an event's reference is looked for.
var idFields = [...]string{"id", "_id", "event_id", "EventRecordID", "event.id"}

// feed enters correlation i with every detection rule it refers to, in the feeds
// by rule.
func (p *Program) feed(i int, rules []*ast.Rule, feeds [][]match.Feed, fields *fieldTable) {
	c := p.all[i]
	byRule := make(map[int][]uint16)
	for m, member := range c.Source.Members {
		for _, r := range member.Rules {
			byRule[r] = append(byRule[r], uint16(m))
		}
	}
	for _, r := range slices.Sorted(maps.Keys(byRule)) {
		f := match.Feed{Correlation: i, Kind: kindOf(c.Source)}
		if c.Source.Type.Temporal() {
			f.Members = slices.Compact(byRule[r])
		}
		var key []int
		for _, g := range c.Source.GroupBy {
			key = append(key, fields.of(c.Source, fieldOf(c.Source, g, &rules[r].Meta)))
		}
		f.Key = p.key(key)
		if f.Kind != match.Nothing {
			for _, name := range c.Source.Condition.Fields {
				f.Values = append(f.Values, fields.of(c.Source, name))
			}
		}
		feeds[r] = append(feeds[r], f)
		spec := &p.spec.Rules[r]
		spec.WantID = spec.WantID || c.Events == EventsRefs
		spec.Copy = spec.Copy || c.Events == EventsFull
	}
	if c.Events == EventsRefs && p.spec.IDs == nil {
		for _, name := range idFields {
			p.spec.IDs = append(p.spec.IDs, fields.number(name, nil))
		}
	}
	taken := make(map[string]bool, len(c.Source.Members))
	for _, m := range c.Source.Members {
		id := p.memberID(m, rules)
		for taken[id] { // several references begin with one rule
			id += "'"
		}
		taken[id] = true
		c.Members = append(c.Members, id)
	}
}

// key numbers a group key: correlations that group by the same fields share it.
func (p *Program) key(fields []int) int {
	for i, k := range p.spec.Keys {
		if slices.Equal(k, fields) {
			return i
		}
	}
	p.spec.Keys = append(p.spec.Keys, fields)
	return len(p.spec.Keys) - 1
}

func kindOf(s *ast.Correlation) match.Kind {
	switch {
	case s.Type.Numeric():
		return match.Number
	case s.Type != ast.ValueCount:
		return match.Nothing
	case len(s.Condition.Fields) > 1:
		return match.Tuple
	}
	return match.Text
}

// memberID names a member independently of how the reference is spelled.
func (p *Program) memberID(m ast.Member, rules []*ast.Rule) string {
	var meta *ast.Meta
	switch {
	case len(m.Rules) > 0:
		meta = &rules[m.Rules[0]].Meta
	case len(m.Correlations) > 0:
		meta = &p.all[m.Correlations[0]].Source.Meta
	default:
		return m.Name
	}
	if meta.ID != "" {
		return meta.ID
	}
	return meta.Name
}

// link enters correlation i with every correlation it refers to.
func (p *Program) link(i int, fields *fieldTable) {
	s := p.all[i].Source
	byMember := make(map[int][]uint16)
	for m, member := range s.Members {
		for _, l := range member.Correlations {
			byMember[l] = append(byMember[l], uint16(m))
		}
	}
	for _, l := range slices.Sorted(maps.Keys(byMember)) {
		lower := p.all[l].Source
		u := Dependent{Index: i, Members: slices.Compact(byMember[l])}
		for _, g := range s.GroupBy {
			u.Key = append(u.Key, originOf(g, fieldOf(s, g, &lower.Meta), s, lower, fields))
		}
		if kindOf(s) != match.Nothing {
			for _, name := range s.Condition.Fields {
				u.Values = append(u.Values, originOf(name, name, s, lower, fields))
			}
		}
		p.all[l].Dependents = append(p.all[l].Dependents, u)
	}
}

// originOf returns where dependent finds name when lower fires: in the group key of
// lower, or in the given field of the event.
func originOf(name, field string, dependent, lower *ast.Correlation, fields *fieldTable) Origin {
	if part := slices.Index(lower.GroupBy, name); part >= 0 {
		return Origin{Part: part}
	}
	return Origin{Part: -1, Field: fields.of(dependent, field)}
}

// reach sets, for every rule, the fields that dependents of the correlations it feeds
// may read.
func (p *Program) reach() {
	above := make([][]int, len(p.all))
	done := make([]bool, len(p.all))
	for r := range p.spec.Rules {
		spec := &p.spec.Rules[r]
		for _, f := range p.spec.Feeds[spec.From:spec.To] {
			spec.Chain = append(spec.Chain, p.chainFields(f.Correlation, above, done)...)
		}
		slices.Sort(spec.Chain)
		spec.Chain = slices.Compact(spec.Chain)
	}
}

func (p *Program) chainFields(i int, above [][]int, done []bool) []int {
	if done[i] {
		return above[i]
	}
	done[i] = true // before descending: correlations have no cycles
	for _, u := range p.all[i].Dependents {
		for _, o := range slices.Concat(u.Key, u.Values) {
			if o.Part < 0 {
				above[i] = append(above[i], o.Field)
			}
		}
		above[i] = append(above[i], p.chainFields(u.Index, above, done)...)
	}
	slices.Sort(above[i])
	above[i] = slices.Compact(above[i])
	return above[i]
}

// withhold marks the rules that a correlation refers to and none asks to emit.
func (p *Program) withhold() {
	generated := make([]bool, len(p.withheld))
	for _, c := range p.all {
		for _, m := range c.Source.Members {
			for _, r := range m.Rules {
				p.withheld[r] = true
				generated[r] = generated[r] || c.Source.Generate
			}
		}
	}
	for r, yes := range generated {
		p.withheld[r] = p.withheld[r] && !yes
	}
}

// deepest returns the length of the longest chain.
func (p *Program) deepest() int {
	above := make([]int, len(p.all))
	for i := range above {
		above[i] = -1
	}
	var height func(i int) int
	height = func(i int) int {
		if above[i] < 0 {
			above[i] = 0
			for _, u := range p.all[i].Dependents {
				above[i] = max(above[i], height(u.Index)+1)
			}
		}
		return above[i]
	}
	depth := 0
	for i := range p.all {
		depth = max(depth, height(i))
	}
	return depth
}
