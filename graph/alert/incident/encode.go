package incident

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/sluicehq/sluice/graph/ocsf"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// appendMembers appends the members of the incident as an object that is still open.
func (c *content) appendMembers(dst []byte, l *layout, t Trigger) []byte {
	dst = event.AppendQuoted(append(dst, `{"incident_id":`...), c.id)
	dst = append(append(dst, `,"state":"`...), t.state()...)
	dst = append(append(dst, `","trigger":"`...), t...)
	dst = strconv.AppendInt(append(dst, `","first_seen":`...), c.first, 10)
	dst = strconv.AppendInt(append(dst, `,"last_seen":`...), c.last, 10)
	if c.level != ast.LevelNone {
		dst = event.AppendQuoted(append(dst, `,"max_level":`...), c.level.String())
	}
	dst = strconv.AppendInt(append(dst, `,"result_count":`...), c.results, 10)
	dst = c.appendCounts(append(dst, `,"rule_counts":`...))
	if c.by != nil {
		dst = append(append(dst, `,"group_by":`...), c.by.object...)
	}
	if all := c.entities(l); len(all) > 0 {
		dst = appendEntities(append(dst, `,"entities":`...), all)
	}
	if c.showsRefs(l) {
		dst = c.appendRefs(append(dst, `,"refs":`...))
	}
	if c.showsLines(l) {
		dst = c.appendLines(append(dst, `,"results":`...))
	}
	return dst
}

// What is kept under another setting is shown as long as it is kept.
func (c *content) showsRefs(l *layout) bool {
	return l.include == Refs || len(c.samples.refs) > 0
}

func (c *content) showsLines(l *layout) bool {
	return l.include == Results || len(c.samples.lines) > 0
}

// sorted are the counts in the order of the rules.
func (c *content) sorted() []count {
	all := slices.Clone(c.counts)
	slices.SortFunc(all, func(a, b count) int { return cmp.Compare(a.rule.Value(), b.rule.Value()) })
	return all
}

func (c *content) appendCounts(dst []byte) []byte {
	dst = append(dst, '{')
	for i, one := range c.sorted() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(event.AppendQuoted(dst, one.rule.Value()), ':')
		dst = strconv.AppendInt(dst, one.n, 10)
	}
	return append(dst, '}')
}

func (c *content) ruleCounts() map[string]int64 {
	all := make(map[string]int64, len(c.counts))
	for _, one := range c.counts {
		all[one.rule.Value()] = one.n
	}
	return all
}

// selected are the values that make the group, nil in an entity graph.
func (c *content) selected() (all []ocsf.Selected) {
	if c.by == nil {
		return nil
	}
	for key, v := range event.ValueOf(c.by.object).Members {
		all = append(all, ocsf.Selected{Selector: string(event.AppendUnquoted(nil, key)), Value: v.Raw})
	}
	return all
}

// entities are the values that the incident shows, in the order of the selectors, sorted.
func (c *content) entities(l *layout) (all []ocsf.Entities) {
	if len(c.owned) == 0 && c.more == nil {
		return nil
	}
	keys := slices.Collect(c.set)
	slices.SortFunc(keys, func(a, b string) int {
		sa, ta := parse(a)
		sb, tb := parse(b)
		return cmp.Or(cmp.Compare(l.rank[sa], l.rank[sb]), cmp.Compare(ta, tb))
	})
	for _, key := range keys {
		selector, text := parse(key)
		if n := len(all); n == 0 || all[n-1].Selector != l.names[selector] {
			all = append(all, ocsf.Entities{Selector: l.names[selector]})
		}
		last := &all[len(all)-1]
		last.Values = append(last.Values, text)
	}
	return all
}

func appendEntities(dst []byte, all []ocsf.Entities) []byte {
	dst = append(dst, '{')
	for i, e := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(event.AppendQuoted(dst, e.Selector), ':')
		dst = appendTexts(dst, e.Values)
	}
	return append(dst, '}')
}

func appendTexts(dst []byte, all []string) []byte {
	dst = append(dst, '[')
	for i, text := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = event.AppendQuoted(dst, text)
	}
	return append(dst, ']')
}

func (c *content) appendRefs(dst []byte) []byte {
	dst = append(dst, '[')
	for i, handle := range c.samples.refs {
		if i > 0 {
			dst = append(dst, ',')
		}
		r := handle.Value()
		dst = event.AppendQuoted(append(dst, `{"rule":`...), r.rule)
		if r.level != ast.LevelNone {
			dst = event.AppendQuoted(append(dst, `,"level":`...), r.level.String())
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func (c *content) appendLines(dst []byte) []byte {
	dst = append(dst, '[')
	for i, line := range c.samples.lines {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, line...)
	}
	return append(dst, ']')
}
