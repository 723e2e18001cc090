package load_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
)

func TestPlaceholdersWithoutAValueAreWarnedOf(t *testing.T) {
	const filter = `
---
title: F
logsource: {product: windows}
filter: {rules: any, sel: {User|expand: '%admins%'}, condition: not sel}
`
	rule := func(title, detection, more string) string {
		return "---\ntitle: " + title + "\nlogsource: {product: windows}\n" + more + "detection: {sel: {" + detection + "}, condition: sel}\n"
	}
	for _, tc := range []struct {
		name, rules string
		want        []string // one beginning a warning
	}{
		{"none with expand", rule("R", `User: '%admins%'`, ""), nil},
		{"no percent signs", rule("R", `User|expand: admins`, ""), nil},
		{"one", rule("R", `User|expand: '%admins%'`, ""), []string{"no pipeline gives a value to %admins%: "}},
		{"several of a rule in one warning, each once", rule("R", `User|expand: ['%a%', 'x%b%y%a%'], Host|contains|expand: '%c%'`, ""), []string{"no pipeline gives a value to %a%, %b%, %c%: "}},
		{"those that the rule lists as fields are meant", rule("R", `User|expand: ['%a%', '%b%']`, "fields: [b]\n"), []string{"no pipeline gives a value to %a%: "}},
		{"all of them are", rule("R", `User|expand: '%b%'`, "fields: [b]\n"), nil},
		{"each rule for itself", rule("R", `User|expand: '%a%'`, "") + rule("S", `User|expand: '%a%'`, ""), []string{"no pipeline gives a value to %a%: ", "no pipeline gives a value to %a%: "}},
		{"a filter once for all rules", rule("R", `A: 1`, "") + rule("S", `A: 2`, "") + filter, []string{"no pipeline gives a value to %admins% of filter 'F': "}},
		{"a single percent sign", rule("R", `User|expand: '50% of them'`, ""), nil},
		{"a rejected rule", "---\ntitle: R\ndetection: {sel: {User|expand: '%a%'}, condition: nothing}\n", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := load.FromBytes("r.yml", []byte(tc.rules), load.Options{})
			checkWarnings(t, c, tc.want)
		})
	}
}

func checkWarnings(t *testing.T, c *load.Collection, want []string) {
	t.Helper()
	if len(c.Warnings) != len(want) {
		t.Fatalf("warnings %v, want %d", c.Warnings, len(want))
	}
	for i := range want {
		if !strings.HasPrefix(c.Warnings[i].Reason, want[i]) {
			t.Errorf("warning %q, want %q", c.Warnings[i].Reason, want[i])
		}
	}
}

// Pipelines decide: what they leave of a rule counts, and its fields as written.
func TestPlaceholdersThatAPipelineFillsAreNotWarnedOf(t *testing.T) {
	const rule = "title: R\nfields: [Host]\ndetection: {sel: {User|expand: '%admins%', Name|expand: '%Host%'}, condition: sel}\n"
	fill := func(r *ast.Rule) (*ast.Rule, load.Outcome, error) {
		out := *r
		out.Fields = []string{"renamed"}
		out.Detections = load.FromBytes("r.yml", []byte("title: R\ndetection: {sel: {User: root, Name|expand: '%Host%'}, condition: sel}\n"), load.Options{}).Rules[0].Detections
		return &out, load.Outcome{}, nil
	}
	checkWarnings(t, load.FromBytes("r.yml", []byte(rule), load.Options{Transform: fill}), nil)
}
