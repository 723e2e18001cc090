package main

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/engine"
)

func TestEveryKindOfLinesIsMeasured(t *testing.T) {
	set, err := engine.Compile(sampleRules(t), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range sigmatest.LineKinds() {
		var out strings.Builder
		r := report{out: &out}
		if err := r.lineKind(set, kind, 0); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.HasPrefix(got, kind.Name+" ") || !strings.Contains(got, " 0.000 ") || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: got %q, want one row without allocations", kind.Name, got)
		}
	}
}
