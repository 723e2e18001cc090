package acceptance

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// aftermath is what came of numbered messages, of which some were on their way when their
// daemon or their server was killed.
type aftermath struct {
	results         map[string][]string // lines, by where they went; "file" is always there
	once            string              // where nothing comes twice, whatever happens
	unsettled       map[int]int         // by message: kills at which the server did not have its end
	count, distinct int                 // in the windows
}

// correlations are the different results of correlations.
func (a *aftermath) correlations() map[string]bool {
	all := make(map[string]bool)
	for _, l := range a.results["file"] {
		if strings.Contains(l, `"correlation_type"`) {
			all[l] = true
		}
	}
	return all
}

// judge fails the test when the result of a message is missing, or came more often than its
// message was unsettled at a kill. In mode snapshot it wants windows and correlations as they
// are when nothing happens.
func (a *aftermath) judge(t *testing.T, mode string, messages int, undisturbed map[string]bool) {
	t.Helper()
	for name, lines := range a.results {
		times := make(map[string]int)
		for _, l := range lines {
			times[l]++
		}
		missing, twice, wrong := 0, 0, 0
		for n := range messages {
			switch seen := times[resultLine("Base", fmt.Sprint("evil ", n))]; {
			case seen == 0:
				missing++
			case seen > 1:
				twice += seen - 1
				wrong += max(0, seen-1-a.unsettled[n])
			}
		}
		t.Logf("%s, %s: %d results, %d twice; %d messages were unsettled at a kill", mode, name, messages, twice, len(a.unsettled))
		if missing > 0 {
			t.Errorf("%s: %d results are missing of %d", name, missing, messages)
		}
		if wrong > 0 || name == a.once && twice > 0 {
			t.Errorf("%s: %d results came again, %d of them although their message was settled at every kill; want none of these, and none at all in %q", name, twice, wrong, a.once)
		}
	}
	if mode == "delivered" {
		return
	}
	if a.count != messages || a.distinct != messages {
		t.Errorf("the windows hold %d events of which %d are different, want all %d", a.count, a.distinct, messages)
	}
	if got := a.correlations(); !maps.Equal(got, undisturbed) {
		t.Errorf("%d different correlation results, want the %d of an uninterrupted run", len(got), len(undisturbed))
	}
}
