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
		{"flat records, rules that a pipeline has renamed in part", windowsRules(13, "process.executable") + windowsRules(7, "TargetObject"), []string{flat}, engine.Flat},
		{"flat records, as many rules that it has not", windowsRules(9, "process.executable") + windowsRules(11, "TargetObject"), []string{flat}, engine.NoShape},
		{"flat records, rules with the pipeline of Fibratus", windowsRules(3, "ps.exe"), []string{flat}, engine.Flat},
		{"shipped records, rules with the pipeline of Fibratus", windowsRules(3, "ps.exe, evt.name: y, file.name"), []string{shipped}, engine.Shipped},
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
		want        bool
	}{
		{"unread", windowsRules(1, "Image"), true},
		{"read", windowsRules(1, "Event.System.X"), false},
	} {
		set := compiled(t, tc.rules, engine.Options{})
		s := &step.Shapes{Least: 3}
		d := step.NewDetect(false)
		d.Watch(nil, s)
		for i := range 5 {
			batchOf(t, d, set, rendered)
			if got := s.Once(); got != (i == 2) {
				t.Errorf("%s, batch %d: looking ends: %t", tc.name, i, got)
			}
			if shape, got := s.Unread(); i == 2 && (got != tc.want || got && shape != engine.Rendered) {
				t.Errorf("%s: got %t (%d), want %t", tc.name, got, shape, tc.want)
			}
		}
	}
	var nobody *step.Shapes
	if nobody.Once() || nobody.Last() {
		t.Error("nobody watches, and there is an answer")
	}
	few := &step.Shapes{Least: 3}
	d := step.NewDetect(false)
	d.Watch(nil, few)
	batchOf(t, d, compiled(t, windowsRules(1, "Image"), engine.Options{}), rendered)
	once, last, again := few.Once(), few.Last(), few.Last()
	if shape, ok := few.Unread(); once || !last || again || !ok || shape != engine.Rendered {
		t.Errorf("fewer events than are enough: %t, %t, %t, %t", once, last, again, ok)
	}
}

func TestRulesThatAreAllSkipped(t *testing.T) {
	const security = `{"EventID":4688,"Channel":"Security","Provider_Name":"Microsoft-Windows-Security-Auditing"}`
	for _, tc := range []struct {
		name, rules string
		lines       []string
		want        *step.Skipped
	}{
		{"a product that there is not", ruleOf("window", "A"), []string{security, security}, &step.Skipped{Rules: "window", Events: "windows"}},
		{"rules of several products", ruleOf("linux", "A") + ruleOf("aix", "A"), []string{security}, &step.Skipped{Rules: "aix, linux", Events: "windows"}},
		{"one rule fits", ruleOf("window", "A") + ruleOf("windows", "A"), []string{security}, nil},
		{"a rule without a product fits", ruleOf("window", "A") + ruleOf("", "A"), []string{security}, nil},
		{"one event fits", ruleOf("window", "A"), []string{security, "{}"}, nil},
		{"no events", ruleOf("window", "A"), nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &step.Shapes{Least: 1}
			d := step.NewDetect(false)
			d.Watch(nil, s)
			if len(tc.lines) > 0 {
				batchOf(t, d, compiled(t, tc.rules, engine.Options{Routing: engine.DefaultRouting()}), tc.lines...)
			}
			if got, ok := s.Skipped(); ok != (tc.want != nil) || ok && got != *tc.want {
				t.Errorf("got %+v (%t), want %+v", got, ok, tc.want)
			}
		})
	}
}
