package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
)

const sampleRule = `title: T
id: t
detection:
  sel:
    Image|endswith: '\powershell.exe'
    CommandLine|contains: [' -e', 'Download*String']
    Hash|re: '[0-9a-f]{32}'
    Id: 4688
  condition: sel
`

func sampleRules(t *testing.T) []*ast.Rule {
	t.Helper()
	return load.FromBytes("sample.yml", []byte(sampleRule), load.Options{}).Rules
}

func TestVariantsDifferInEveryLongLiteral(t *testing.T) {
	rules, err := multiplied(sampleRules(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range rules {
		items := r.Detections[0].Node.Items
		text := items[0].Values[0].Text + items[1].Values[1].Text
		if seen[text] {
			t.Errorf("rule %s has the literals of another one: %s", r.ID, text)
		}
		seen[text] = true
		short, re := items[1].Values[0].Text, items[2].Values[0].Text
		if short != " -e" || re != "[0-9a-f]{32}" || !strings.HasPrefix(items[0].Values[0].Text, `\pow`) {
			t.Errorf("rule %s: literals are %q, %q, %q", r.ID, items[0].Values[0].Text, short, re)
		}
	}
	if len(rules) != 3 {
		t.Errorf("%d rules, want 3", len(rules))
	}
}

func TestMeasureCountsResults(t *testing.T) {
	j, err := newJudge(sampleRules(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	hit := []byte(`{"Image":"C:\\PowerShell.exe","CommandLine":"x -e downloadAString","Hash":"0123456789abcdef0123456789abcdef","Id":4688}`)
	lines := [][]byte{hit, []byte(`{"Image":"x"}`), hit, []byte(`{}`)}
	samples, err := measureLane([]*judge{j}, lines, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	if s := samples[0]; s.results != 0.5 || s.ratio <= 0 || s.events <= 0 {
		t.Errorf("sample is %+v, want half a result per event", s)
	}
	none, err := unmatched(j, lines)
	if err != nil || len(none) != 2 {
		t.Errorf("%d lines without a match (error %v), want 2", len(none), err)
	}
}

func TestReportCountsMissedBars(t *testing.T) {
	var out strings.Builder
	r := report{out: &out}
	r.row("lane", "every", figures{ratio: 0.7}, 0.6, 1)
	r.row("lane", "routed", figures{ratio: 0.7}, 0.8, 0)
	if got := out.String(); r.missed != 1 || strings.Count(got, "PASS") != 1 || strings.Count(got, "FAIL") != 1 {
		t.Errorf("%d bars missed, want 1, in\n%s", r.missed, got)
	}
}

func TestCorpusLoadsWhole(t *testing.T) {
	if rules, err := loadRules(sigmatest.DataDir(t)); err != nil || len(rules) != 3141 {
		t.Errorf("%d rules (error %v), want 3141", len(rules), err)
	}
}
