package terminal

import (
	"strings"
	"testing"
)

func TestTheWidthOfTheTerminalIsReadForEachRow(t *testing.T) {
	var out strings.Builder
	width := 100
	r := NewRows(&out, func() int { width -= 10; return width }, false)
	long := Row{Cells: []string{"-", "-", "low", "T", "once", strings.Repeat("x", 100)}}
	if err := r.Write([]Row{long, long}); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if want := 90 - 10*i; i > 0 && len(line) != want {
			t.Errorf("row %d has %d characters, want %d", i, len(line), want)
		}
	}
}
