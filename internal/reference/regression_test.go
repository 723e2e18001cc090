package reference_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

func TestRulesFireOnThePublishedEvents(t *testing.T) {
	rules := corpus(t)
	e, err := reference.New(rules, reference.Options{})
	if err != nil {
		t.Fatal(err)
	}
	indexes := map[string]int{}
	for i, r := range rules {
		indexes[r.ID] = i
	}
	indexed := newIndexed(t, rules, reference.Options{})
	for _, c := range sigmatest.Regressions(t) {
		index, ok := indexes[c.RuleID]
		if !ok {
			t.Errorf("%s: rule %s is not loaded", c.Case, c.RuleID)
			continue
		}
		fires := false
		for _, line := range published(t, c.Raw) {
			ev := reference.DecodeAuto(line)
			for _, i := range e.Fires(ev) {
				fires = fires || i == index
			}
			indexed.compare(t, e, ev, line)
		}
		if !fires {
			t.Errorf("%s: rule %s does not fire on %s", c.Case, c.RuleID, c.File)
		}
	}
}

// published makes lines of a published file: records as a log shipper flattens
// them, or the text as it is.
func published(t *testing.T, raw string) [][]byte {
	t.Helper()
	var out [][]byte
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	for {
		var record struct {
			Event struct{ System, EventData map[string]any }
		}
		switch err := dec.Decode(&record); {
		case err != nil && len(out) == 0:
			return [][]byte{bytes.TrimSpace([]byte(raw))}
		case err != nil:
			return out
		}
		flat := map[string]any{}
		flatten(flat, record.Event.System)
		flatten(flat, record.Event.EventData)
		line, err := json.Marshal(flat)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, line)
	}
}

// flatten copies elements under their own names, attributes as
// <element>_<attribute>.
func flatten(into, from map[string]any) {
	for name, v := range from {
		m, nested := v.(map[string]any)
		if !nested {
			into[name] = v
			continue
		}
		if s, ok := m["#text"]; ok {
			into[name] = s
		}
		attributes, _ := m["#attributes"].(map[string]any)
		for a, v := range attributes {
			into[name+"_"+a] = v
		}
	}
}
