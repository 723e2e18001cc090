package sigmatest

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

func TestCorpusIsWhole(t *testing.T) {
	archive := RuleArchive(t)
	for dir, want := range map[string]int{"rules": 3141, "rules-placeholder": 23, "rules-compliance": 3} {
		got := 0
		err := fs.WalkDir(archive, dir, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(e.Name(), ".yml") {
				got++
			}
			return err
		})
		if err != nil || got != want {
			t.Errorf("%s has %d rule files (error %v), want %d", dir, got, err, want)
		}
	}
	for _, lane := range Lanes() {
		want := 10000
		if lane == Telemetry {
			want = 29756
		}
		if got := len(Lane(t, lane)); got != want {
			t.Errorf("lane %s has %d lines, want %d", lane, got, want)
		}
	}
	if got := len(Regressions(t)); got != 79 {
		t.Errorf("%d published cases, want 79", got)
	}
	if got := len(ExpectedHits(t)); got == 0 {
		t.Error("no expected hits")
	}
}

func TestOneSeedGivesTheSameRulesAndEvents(t *testing.T) {
	rules := []*ast.Rule{{Detections: []ast.Detection{{Name: "sel", Node: &ast.Node{Items: []ast.Item{
		{Field: "a.b", Values: []ast.Value{ast.StringValue("x*y"), {Kind: ast.Number, Text: "7"}}},
	}}}}}}
	for seed := range uint64(50) {
		if a, b := RandomRules(seed, 10), RandomRules(seed, 10); a != b {
			t.Fatalf("seed %d gives\n%s and\n%s", seed, a, b)
		}
		a, b := NewGenerator(seed, rules), NewGenerator(seed, rules)
		for range 20 {
			if x, y := a.Damaged(), b.Damaged(); !bytes.Equal(x, y) {
				t.Fatalf("seed %d gives %s and %s", seed, x, y)
			}
		}
	}
}
