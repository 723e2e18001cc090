package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sigma/ast"
)

func rule(title, id, file string) *ast.Rule {
	return &ast.Rule{Meta: ast.Meta{Title: title, ID: id, Origin: ast.Origin{File: file, Document: 1}}}
}

func same(file string) string { return file }

// shown is each rule with its hits, in order.
func shown(c *Catalog, q Query) string {
	page, _ := c.Page(q)
	var list []string
	for _, e := range page {
		list = append(list, fmt.Sprintf("%s %d", e.Title, e.Hits))
	}
	return strings.Join(list, ", ")
}

func TestARuleGoesOnWithItsHitsWhereItIsTheSame(t *testing.T) {
	first := New([]*ast.Rule{
		rule("A", "a", "1.yml"), rule("B", "", "1.yml"), rule("Twin", "", "1.yml"), rule("Twin", "", "1.yml"), rule("Gone", "g", "1.yml"),
	}, []*ast.Correlation{{Meta: ast.Meta{Title: "A", ID: "a"}}}, same, nil)
	for i := range 5 {
		first.Detection(i).Add(i+1, 0)
	}
	first.Correlation(0).Add(9, 0)
	for _, tc := range []struct {
		name         string
		rules        []*ast.Rule
		correlations []*ast.Correlation
		want         string
	}{
		{"the same rules", []*ast.Rule{rule("A", "a", "1.yml"), rule("B", "", "1.yml")}, nil, "A 1, B 2"},
		{"in another order", []*ast.Rule{rule("B", "", "1.yml"), rule("A", "a", "1.yml")}, nil, "B 2, A 1"},
		{"an id stands for its rule in any file, under any title", []*ast.Rule{rule("New", "a", "2.yml")}, nil, "New 1"},
		{"without an id, another title is another rule", []*ast.Rule{rule("New", "", "1.yml")}, nil, "New 0"},
		{"and so is another file", []*ast.Rule{rule("B", "", "2.yml")}, nil, "B 0"},
		{"a rule that gets an id is another", []*ast.Rule{rule("B", "b", "1.yml")}, nil, "B 0"},
		{"rules of one file and title are told apart by their order", []*ast.Rule{rule("Twin", "", "1.yml"), rule("Twin", "", "1.yml"), rule("Twin", "", "1.yml")}, nil, "Twin 3, Twin 4, Twin 0"},
		{"a correlation is no detection", nil, []*ast.Correlation{{Meta: ast.Meta{Title: "A", ID: "a"}}}, "A 9"},
	} {
		if got := shown(New(tc.rules, tc.correlations, same, first), Query{}); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
	without := New([]*ast.Rule{rule("A", "a", "1.yml")}, nil, same, first)
	if got := shown(New([]*ast.Rule{rule("Gone", "g", "1.yml")}, nil, same, without), Query{}); got != "Gone 0" {
		t.Errorf("a rule that comes back: got %s, want no hits", got)
	}
}

func TestTheSetBeforeSeesTheHitsOfTheNext(t *testing.T) {
	before := New([]*ast.Rule{rule("A", "a", "1.yml")}, nil, same, nil)
	New([]*ast.Rule{rule("B", "", "1.yml"), rule("A", "a", "1.yml")}, nil, same, before).Detection(1).Add(2, 60)
	n, last := before.Detection(0).Hits()
	if n != 2 || !last.Equal(time.Unix(60, 0)) {
		t.Errorf("got %d at %s, want 2 at 60 seconds", n, last)
	}
	if n, last := new(Tally).Hits(); n != 0 || !last.IsZero() {
		t.Errorf("got %d at %s of a rule without hits", n, last)
	}
}

func TestPages(t *testing.T) {
	c := New([]*ast.Rule{rule("b", "", "2.yml"), rule("a", "", "1.yml"), rule("C", "", "1.yml")}, nil, same, nil)
	c.entries[0].Level, c.entries[1].Level = ast.LevelLow, ast.LevelCritical
	c.Detection(0).Add(5, 10)
	c.Detection(2).Add(5, 20)
	for order, want := range map[Order]string{
		"": "b 5, a 0, C 5", Loaded: "b 5, a 0, C 5", ByTitle: "a 0, b 5, C 5", ByLevel: "a 0, b 5, C 5",
		ByFile: "a 0, C 5, b 5", ByHits: "b 5, C 5, a 0", ByLastHit: "C 5, b 5, a 0",
	} {
		if got := shown(c, Query{Order: order}); got != want {
			t.Errorf("by %q: got %s, want %s", order, got, want)
		}
	}
	var seen []string
	for from := 0; ; from += 2 {
		page, total := c.Page(Query{Order: ByTitle, Offset: from, Limit: 2})
		if total != 3 {
			t.Fatalf("total %d, want 3", total)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			seen = append(seen, e.Title)
		}
	}
	if !slices.Equal(seen, []string{"a", "b", "C"}) {
		t.Errorf("pages show %v", seen)
	}
}
