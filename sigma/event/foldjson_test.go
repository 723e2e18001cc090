package event

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzFoldingASCIIAgreesWithTheSlowWay(f *testing.F) {
	for _, s := range []string{"", `C:\Windows\System32\CMD.EXE`, "a\tb\nC", `\`, `\\\\`, "[@`{Zz", `1234567\`, `12345678\x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted, err := json.Marshal(s)
		if err != nil || hasHigh(quoted) || strings.Contains(string(quoted), `\u`) {
			t.Skip()
		}
		want := string(AppendFolded(nil, AppendUnquoted(nil, quoted)))
		got := string(AppendFoldedASCII([]byte("prefix"), quoted[1:len(quoted)-1]))
		if got != "prefix"+want {
			t.Errorf("folding %q: got %q, want %q", s, got, want)
		}
	})
}
