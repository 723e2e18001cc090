package command

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestUnifiedDiff(t *testing.T) {
	for _, tc := range []struct {
		name, before, after string
		want                string
	}{
		{"equal texts have no hunk", "a b c", "a b c", ""},
		{"one line in the middle", "1 2 3 4 5 6 7", "1 2 3 x 5 6 7", "@@ -2,5 +2,5 @@| 2| 3|-4|+x| 5| 6"},
		{"the first line", "1 2 3 4", "x 2 3 4", "@@ -1,3 +1,3 @@|-1|+x| 2| 3"},
		{"the last line", "1 2 3 4", "1 2 3 x", "@@ -2,3 +2,3 @@| 2| 3|-4|+x"},
		{"lines added to nothing", "", "a b", "@@ -0,0 +1,2 @@|+a|+b"},
		{"all lines gone", "a", "", "@@ -1 +0,0 @@|-a"},
		{"changes four lines apart share a hunk", "x 1 2 3 4 y", "a 1 2 3 4 b", "@@ -1,6 +1,6 @@|-x|+a| 1| 2| 3| 4|-y|+b"},
		{"five lines apart they do not", "x 1 2 3 4 5 y", "a 1 2 3 4 5 b", "@@ -1,3 +1,3 @@|-x|+a| 1| 2|@@ -5,3 +5,3 @@| 4| 5|-y|+b"},
		{"later hunks count what was added", "1 2 3 4 5 6 7 8 9", "0 1 2 3 4 5 6 7 8 x", "@@ -1,2 +1,3 @@|+0| 1| 2|@@ -7,3 +8,3 @@| 7| 8|-9|+x"},
		{"repeated lines are aligned, too", "{ a } { b }", "{ a } { c } { b }", "@@ -3,4 +3,7 @@| }| {|+c|+}|+{| b| }"},
	} {
		got := strings.Join(unifiedDiff(strings.Fields(tc.before), strings.Fields(tc.after), 2), "|")
		if got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

// Whatever the texts are, the marks tell both of them.
func TestComparingLosesNoLine(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() []string {
		lines := make([]string, random.IntN(40))
		for i := range lines {
			lines[i] = fmt.Sprint(random.IntN(1 + random.IntN(60)))
		}
		return lines
	}
	for range 2000 {
		before, after := text(), text()
		var a, b []string
		for _, e := range compare(before, after) {
			if e.mark != '+' {
				a = append(a, e.line)
			}
			if e.mark != '-' {
				b = append(b, e.line)
			}
		}
		if !slices.Equal(a, before) || !slices.Equal(b, after) {
			t.Fatalf("comparing %q and %q tells %q and %q", before, after, a, b)
		}
	}
}
