package step_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/engine"
)

// windowsRules are so many rules for Windows that look at a field.
func windowsRules(n int, field string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\ntitle: t%d\nlogsource: {product: windows}\ndetection: {sel: {%s: x%d}, condition: sel}\n", i, field, i)
	}
	return b.String()
}

func TestEventsWhoseFieldsNoRuleLooksAt(t *testing.T) {
	const (
		rendered = `{"Event":{"System":{"EventID":1,"Channel":"Security"},"EventData":{"Image":"x0"}}}`
		dotted   = `{"Event.System.EventID":1,"Event.EventData.Image":"x0"}`
		shipped  = `{"winlog":{"channel":"Security","event_id":1,"event_data":{"Image":"x0"}},"process":{"executable":"x0"}}`
		flat     = `{"EventID":1,"Channel":"Security","Image":"x0"}`
		other    = `{"message":"x0"}`
	)
	words := "---\ntitle: w\nlogsource: {product: windows}\ndetection: {w: [Security], condition: w}\n"
	for _, tc := range []struct {
		name  string
		rules string
		lines []string
		want  engine.Shape // NoShape when there is no answer
	}{
		{"rendered records, rules without a pipeline", windowsRules(3, "Image"), []string{rendered}, engine.Rendered},
		{"the same with dots in their names", windowsRules(3, "Image"), []string{dotted}, engine.Rendered},
		{"the same and rules with their pipeline", windowsRules(3, "Event.EventData.Image"), []string{rendered}, engine.NoShape},
		{"the same and rules with another pipeline", windowsRules(3, "process.executable"), []string{rendered}, engine.Rendered},
		{"shipped records, rules without a pipeline", windowsRules(3, "Image"), []string{shipped}, engine.Shipped},
		{"shipped records, rules with their pipeline", windowsRules(3, "process.executable"), []string{shipped}, engine.NoShape},
		{"flat records, rules without a pipeline", windowsRules(3, "Image"), []string{flat}, engine.NoShape},
		{"flat records, rules with a pipeline", windowsRules(3, "Event.EventData.Image"), []string{flat}, engine.Flat},
		{"no Windows records", windowsRules(3, "Event.EventData.Image"), []string{other}, engine.NoShape},
		{"few of many events", windowsRules(3, "Image"), []string{rendered, other}, engine.NoShape},
		{"few of many rules are written for the shape", windowsRules(11, "Image") + ruleOf("windows", "Event.System.X"), []string{rendered}, engine.Rendered},
		{"some of many rules are", windowsRules(8, "Image") + ruleOf("windows", "Event.System.X"), []string{rendered}, engine.NoShape},
		{"rules for other products do not count", windowsRules(3, "Image") + ruleOf("linux", "Event.System.X"), []string{rendered}, engine.Rendered},
		{"rules for other products alone", ruleOf("linux", "Image"), []string{rendered}, engine.NoShape},
		{"rules for any product count", ruleOf("", "Image"), []string{rendered}, engine.Rendered},
		{"rules of keywords alone", words, []string{rendered}, engine.NoShape},
		{"results of keywords say nothing of fields", windowsRules(3, "Image") + words, repeat(9, rendered), engine.Rendered},
		{"results of fields do", windowsRules(11, "Image") + ruleOf("windows", "Event.System"), repeat(9, rendered), engine.NoShape},
		{"no events", windowsRules(3, "Image"), nil, engine.NoShape},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := compiled(t, tc.rules, engine.Options{})
			s := &step.Shapes{Least: 1}
			d := step.NewDetect(false)
			d.Watch(nil, s)
			if len(tc.lines) > 0 {
				batchOf(t, d, set, tc.lines...)
			}
			if got, ok := s.Unread(); ok != (tc.want != engine.NoShape) || ok && got != tc.want {
				t.Errorf("got shape %d (%t), want %d", got, ok, tc.want)
			}
		})
	}
}

// An answer comes once there are enough events, or never.
func TestAnAnswerAboutShapesIsGivenOnce(t *testing.T) {
	rendered := `{"Event":{"System":{"EventID":1}}}`
	for _, tc := range []struct {
		name, rules string
		want        []bool // behind each batch of an event
	}{
		{"unread", windowsRules(1, "Image"), []bool{false, false, true, false, false}},
		{"read", windowsRules(1, "Event.System.X"), []bool{false, false, false, false, false}},
	} {
		set := compiled(t, tc.rules, engine.Options{})
		s := &step.Shapes{Least: 3}
		d := step.NewDetect(false)
		d.Watch(nil, s)
		for i, want := range tc.want {
			batchOf(t, d, set, rendered)
			if shape, got := s.Once(); got != want || got && shape != engine.Rendered {
				t.Errorf("%s, batch %d: got %t (%d), want %t", tc.name, i, got, shape, want)
			}
		}
	}
	var nobody *step.Shapes
	if _, ok := nobody.Once(); ok {
		t.Error("nobody watches, and there is an answer")
	}
}
