package ruleset

import (
	"strings"
	"testing"
)

func TestALoadWithoutRulesSaysWhy(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		o     Options
		want  string
	}{
		{"an empty directory", nil, Options{}, "is no file whose name ends in .yml or .yaml"},
		{"files of other names", map[string]string{"a.txt": rule, ".b.yml": rule}, Options{}, "is no file whose name ends in .yml or .yaml"},
		{"every rule is left out", map[string]string{"a.yml": rule}, Options{MinLevel: "critical"}, "--min-level and --exclude-rule leave out all"},
		{"files without rules", map[string]string{"a.yml": "# later\n"}, Options{}, "hold no detection or correlation rule"},
		{"rejected documents", map[string]string{"a.yml": "title: Faulty\n"}, Options{}, "are rejected"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.o.Roots = []string{dir(t, tc.files)}
			rules, err := Load(t.Context(), tc.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := rules.Nothing(); rules.Usable() || !strings.Contains(got, tc.want) || !strings.Contains(got, tc.o.Roots[0]) {
				t.Errorf("got %q, want %q and the path", got, tc.want)
			}
		})
	}
}
