package reference_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
)

func TestEngineFollowsTheCaseTable(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.Name, func(t *testing.T) {
			o := reference.Options{Detail: detailOf(t, c.Detail), IncludeEvent: c.IncludeEvent, ResultTime: c.ResultTime}
			if c.Routing != nil {
				o.Routing = &reference.Routing{Static: c.Routing.Static, Windows: c.Routing.Windows}
			}
			x := newIndexed(t, rulesOf(t, c.Rules), o)
			for i := range c.Events {
				x.events.Reset()
				if err := x.worker.DecodeJSON(&x.events, []byte(c.Events[i].Line)); err != nil {
					t.Fatal(err)
				}
				got := outcome{Lines: x.lines(c.Arrival)}
				s := x.worker.TakeStats()
				got.Pruned, got.WithoutLogsource = int(s.Pruned), s.WithoutLogsource > 0
				c.Events[i].check(t, got)
			}
		})
	}
}

func TestCasesHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cases() {
		if seen[c.Name] || len(c.Events) == 0 {
			t.Errorf("case %q: named twice: %t, events: %d", c.Name, seen[c.Name], len(c.Events))
		}
		seen[c.Name] = true
	}
}
