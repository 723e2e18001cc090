package evaluate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/step"
)

func TestTheWarningOfMisplacedResultsSaysWhatToDo(t *testing.T) {
	for _, tc := range []struct {
		name string
		m    step.Misplaced
		want []string
	}{
		{"events that state no product", step.Misplaced{Results: "cisco 400, zeek 400"}, []string{"cisco 400, zeek 400", "no product stated", "logsource_routing.event_logsource"}},
		{"events of another product", step.Misplaced{Results: "linux 40", Events: "windows"}, []string{"linux 40", "windows", "logsource_routing.enabled"}},
	} {
		text := fmt.Sprint(misplacedAttrs(tc.m)...)
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q lacks %q", tc.name, text, want)
			}
		}
	}
}
