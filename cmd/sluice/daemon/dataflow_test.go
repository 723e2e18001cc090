package daemon

import (
	"bytes"
	"log/slog"
	"runtime"
	"strings"
	"testing"
)

func TestTheVariableSaysHowManyBatchesAreJudgedAtOnce(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	for _, tc := range []struct {
		value  string
		want   int
		warned bool
	}{
		{"2", 2, false},
		{"256", 256, false},
		{"999", 256, false},
		{"x", procs, true},
		{"0", procs, true},
		{"-1", procs, true},
		{"", procs, true},
	} {
		t.Run("set to "+tc.value, func(t *testing.T) {
			t.Setenv("SLUICE_DETECT_INFLIGHT", tc.value)
			var logged bytes.Buffer
			if got := workers(slog.New(slog.NewTextHandler(&logged, nil))); got != tc.want {
				t.Errorf("%d workers, want %d", got, tc.want)
			}
			if got := strings.Contains(logged.String(), "SLUICE_DETECT_INFLIGHT"); got != tc.warned {
				t.Errorf("warned %v, want %v: %s", got, tc.warned, logged.String())
			}
		})
	}
}
