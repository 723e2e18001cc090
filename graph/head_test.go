package graph

import (
	"testing"

	"github.com/sluicehq/sluice/sigma/result"
)

func TestARuleIsToldApartByItsIDElseItsTitle(t *testing.T) {
	for _, tc := range []struct {
		name string
		rule result.Rule
		want string
	}{
		{"an id and a title", result.Rule{ID: "id-1", Title: "T"}, "id-1"},
		{"a title alone", result.Rule{Title: "T"}, "T"},
	} {
		r := &Result{Detection: &result.Detection{Rule: &tc.rule}}
		if got := r.RuleKey(); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}
