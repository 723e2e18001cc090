package reference_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// corpusThrough loads all of rules/ through pipelines.
func corpusThrough(tb testing.TB, names ...string) []*ast.Rule {
	tb.Helper()
	set, err := pipeline.Load(names)
	if err != nil {
		tb.Fatal(err)
	}
	sub, err := fs.Sub(sigmatest.RuleArchive(tb), "rules")
	if err != nil {
		tb.Fatal(err)
	}
	c, err := load.FromFS(sub, load.Options{Transform: set.Apply, TransformCorrelation: set.ApplyCorrelation})
	if err != nil {
		tb.Fatal(err)
	}
	for _, p := range c.Problems() {
		tb.Errorf("rejected through %v: %v", names, p)
	}
	return c.Rules
}

// compactObjects gives each object of a published file on a line of its own,
// with nothing changed, or the text as it is.
func compactObjects(t *testing.T, raw string) [][]byte {
	t.Helper()
	raw = strings.TrimSpace(raw)
	if !strings.HasPrefix(raw, "{") {
		return [][]byte{[]byte(raw)}
	}
	var out [][]byte
	dec := json.NewDecoder(strings.NewReader(raw))
	for {
		var object json.RawMessage
		switch err := dec.Decode(&object); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatalf("behind %d objects: %v", len(out), err)
		}
		var line bytes.Buffer
		if err := json.Compact(&line, object); err != nil {
			t.Fatal(err)
		}
		out = append(out, line.Bytes())
	}
}

// Rules through windows_evtx evaluate rendered records as they come.
func TestRulesThroughWindowsEvtxFireOnThePublishedRecords(t *testing.T) {
	rules := corpusThrough(t, "windows_evtx")
	e, err := reference.New(rules, reference.Options{})
	if err != nil {
		t.Fatal(err)
	}
	indexed := newIndexed(t, rules, reference.Options{})
	indexes := map[string]int{}
	for i, r := range rules {
		indexes[r.ID] = i
	}
	cases := 0
	for _, c := range sigmatest.Regressions(t) {
		cases++
		fires := false
		for _, line := range compactObjects(t, c.Raw) {
			ev := reference.DecodeAuto(line)
			for _, i := range e.Fires(ev) {
				fires = fires || i == indexes[c.RuleID] && rules[i].ID == c.RuleID
			}
			indexed.compare(t, e, ev, line)
		}
		if !fires {
			t.Errorf("%s: rule %s does not fire on %s", c.Case, c.RuleID, c.File)
		}
	}
	if cases < 79 {
		t.Errorf("%d cases, want 79", cases)
	}
}
