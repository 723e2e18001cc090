package correlate

import (
	"slices"
	"testing"

	"github.com/sluicehq/sluice/sigma/load"
)

func TestTimestampFieldsOfRulesGoFirst(t *testing.T) {
	for _, tc := range []struct {
		name                    string
		rules, configured, want []string
	}{
		{"nothing is said", nil, nil, nil},
		{"before the configured ones", []string{"a"}, []string{"b"}, []string{"a", "b"}},
		{"a configured one keeps its place", []string{"b", "c"}, []string{"a", "b"}, []string{"c", "a", "b"}},
		{"and so does a default one", []string{"timestamp", "c"}, nil, []string{"c"}},
		{"a default one that is configured goes first", nil, []string{"timestamp"}, []string{"timestamp"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := (&Config{TimestampFields: tc.configured}).TimeFields(load.Defaults{TimestampFields: tc.rules})
			if !slices.Equal(got, tc.want) {
				t.Errorf("fields %q, want %q", got, tc.want)
			}
		})
	}
}
