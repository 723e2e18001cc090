package sigmatest

import (
	"io/fs"
	"strings"
	"testing"
)

func TestCorpusIsWhole(t *testing.T) {
	archive := RuleArchive(t)
	for dir, want := range map[string]int{"rules": 3141, "rules-placeholder": 23, "rules-compliance": 3} {
		got := 0
		err := fs.WalkDir(archive, dir, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(e.Name(), ".yml") {
				got++
			}
			return err
		})
		if err != nil || got != want {
			t.Errorf("%s has %d rule files (error %v), want %d", dir, got, err, want)
		}
	}
	for _, lane := range Lanes() {
		want := 10000
		if lane == Telemetry {
			want = 29756
		}
		if got := len(Lane(t, lane)); got != want {
			t.Errorf("lane %s has %d lines, want %d", lane, got, want)
		}
	}
	if got := len(Regressions(t)); got != 79 {
		t.Errorf("%d published cases, want 79", got)
	}
	if got := len(ExpectedHits(t)); got == 0 {
		t.Error("no expected hits")
	}
}
