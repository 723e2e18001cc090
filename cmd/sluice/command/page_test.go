package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Lines that meet many rules fill several pages: all results come, those of each line
// together, with what fires behind them.
func TestALineThatMeetsManyRulesFillsPagesInOrder(t *testing.T) {
	const rules, lines = 40, 30
	var text strings.Builder
	for i := range rules {
		fmt.Fprintf(&text, "title: R%02d\nid: r%02d\ndetection: {s: {M|contains: met}, condition: s}\n---\n", i, i)
	}
	text.WriteString("title: C\ncorrelation: {type: event_count, rules: r00, group-by: G, timespan: 1h, condition: {gte: 1}}\n")
	path := filepath.Join(t.TempDir(), "r.yml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var in strings.Builder
	for n := range lines {
		size := pageBytes / rules / 8
		if n%3 == 1 { // a line that is longer than a page
			size = pageBytes / rules * 4 / 3
		}
		fmt.Fprintf(&in, `{"M":"met %d %s","G":"g","timestamp":100}`+"\n", n, strings.Repeat("x", size))
	}
	got := sluice(t, in.String(), "engine", "eval", "-r", path)
	results := strings.SplitAfter(got.out, "\n")
	if len(results) != lines*(rules+1)+1 {
		t.Fatalf("%d results, want %d: %s", len(results)-1, lines*(rules+1), got.err)
	}
	if want := fmt.Sprintf("%d detection matches, %d correlation matches", lines*rules, lines); !strings.Contains(got.err, want) {
		t.Errorf("the summary is %q, want %q", got.err, want)
	}
	for i, r := range results[:len(results)-1] {
		n, k := i/(rules+1), i%(rules+1)
		want := []string{fmt.Sprintf(`"rule_title":"R%02d"`, k), fmt.Sprintf(`"met %d `, n)}
		if k == rules {
			want = []string{`"rule_title":"C"`, fmt.Sprintf(`"aggregated_value":%d,`, n+1)}
		}
		for _, w := range want {
			if !strings.Contains(r, w) {
				t.Fatalf("result %d is %.200s, want it to have %s", i, r, w)
			}
		}
	}
}
