package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestTablesAlignWhatTheyHaveSeen(t *testing.T) {
	var out bytes.Buffer
	tab := NewTable(&out, 0, false, []string{"N", "TEXT", "LAST"})
	for i := range sampleRows + 2 {
		text := fmt.Sprintf("é%d\x1b[2J", i)
		if i > sampleRows {
			text = strings.Repeat("w", 20)
		}
		if err := tab.Row([]string{fmt.Sprint(i), text, "x"}, ""); err != nil {
			t.Fatal(err)
		}
		if i == sampleRows-2 && out.Len() > 0 {
			t.Error("rows were written before the widths were known")
		}
	}
	if err := tab.Flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for i, want := range map[int]string{
		0:              "  N  TEXT      LAST",
		1:              "---  --------  ----",
		2:              "  0  é0 [2J    x", // an escape sequence has lost its escape
		sampleRows + 2: "500  é500 [2J  x",
		sampleRows + 3: "501  wwwwwwwwwwwwwwwwwwww  x",
	} {
		if lines[i] != want {
			t.Errorf("line %d: got %q, want %q", i, lines[i], want)
		}
	}
}
