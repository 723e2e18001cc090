package load

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

const leveled = `title: C
level: critical
id: c1
detection: {s: {a: b}, condition: s}
---
title: H
level: high
id: h1
tags: [attack.t1059, x]
detection: {s: {a: b}, condition: s}
---
title: L
level: low
id: l1
status: deprecated
detection: {s: {C|foo: x}, condition: s}
---
title: N
detection: {s: {a: b}, condition: s}
---
title: over
level: critical
correlation: {type: event_count, rules: l1, timespan: 1m, condition: {gte: 2}}
`

func TestMinLevel(t *testing.T) {
	c := FromBytes("f.yml", []byte(leveled), Options{MinLevel: ast.LevelHigh})
	wantTitles(t, c, "C", "H")
	wantReasons(t, c, "correlation 'over' refers to excluded rule 'l1'")
	if c.Excluded != 2 {
		t.Errorf("excluded %d, want 2", c.Excluded)
	}
}

func TestExcludeRules(t *testing.T) {
	for _, tc := range []struct{ entry, want string }{
		{"h1", "C N"},
		{"tag:attack.t1059", "C N"},
		{"tag:attack.*", "C N"},
		{"tag:attack.t10", "C H N"},
		{"status:deprecated", "C H N"},
		{"H1", "C H N"},
	} {
		c := FromBytes("f.yml", []byte(leveled), Options{ExcludeRules: []string{tc.entry}})
		if got := strings.Join(titles(c), " "); got != tc.want {
			t.Errorf("without %s: got %s, want %s", tc.entry, got, tc.want)
		}
	}
	c := FromBytes("f.yml", []byte(named("A")), Options{ExcludeRules: []string{"nobody"}})
	wantWarnings(t, c, `exclude rule "nobody" leaves nothing out`)
	if got := c.Warnings[0].Error(); got != `exclude rule "nobody" leaves nothing out` {
		t.Errorf("the warning reads %q, want no place in front of it", got)
	}
}

func TestParseExclusion(t *testing.T) {
	for _, entry := range []string{"r1", "tag:a", "tag:*", "status:test"} {
		if _, err := ParseExclusion(entry); err != nil {
			t.Errorf("%q: %v", entry, err)
		}
	}
	for _, entry := range []string{"", " ", "tag:", "status:", "status:old"} {
		if _, err := ParseExclusion(entry); err == nil {
			t.Errorf("%q was accepted", entry)
		}
	}
	if _, err := Load(t.Context(), nil, Options{ExcludeRules: []string{"status:old"}}); err == nil {
		t.Error("a bad entry did not end the load")
	}
}

func TestFiltersAreNeverExcluded(t *testing.T) {
	c := FromBytes("f.yml", []byte("title: A\nlevel: high\n"+strings.TrimPrefix(item("{a: b}"), "title: T\n")+"---\ntitle: F\nid: f1\nfilter: {rules: any, s: {U: x}, condition: not s}"),
		Options{MinLevel: ast.LevelHigh, ExcludeRules: []string{"f1"}})
	if c.Filters != 1 || len(c.Rules[0].Filters) != 1 || c.Excluded != 0 {
		t.Errorf("filters %d, excluded %d, want the filter in force", c.Filters, c.Excluded)
	}
}

func TestDuplicateIDs(t *testing.T) {
	c := FromBytes("f.yml", []byte("id: x\n"+named("A")+"---\nid: x\n"+named("B")), Options{})
	wantTitles(t, c, "A", "B")
	wantWarnings(t, c, "id x is also that of f.yml document 1")
	if c.Warnings[0].Document != 2 {
		t.Errorf("the warning names document %d, want 2", c.Warnings[0].Document)
	}
}
