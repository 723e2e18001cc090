package reference_test

import (
	"encoding/json"
	"slices"
	"testing"
)

// outcome is what an evaluator made of an event.
type outcome struct {
	Lines            [][]byte
	Pruned           int // counted under routing only
	WithoutLogsource bool
}

// Check compares an outcome with what the event is to come to.
func (e *caseEvent) check(tb testing.TB, got outcome) {
	tb.Helper()
	var fires []string
	for _, line := range got.Lines {
		var r struct {
			Title string `json:"rule_title"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			tb.Fatalf("event %s: result %s: %v", e.Line, line, err)
		}
		fires = append(fires, r.Title)
	}
	if !slices.Equal(fires, e.Fires) {
		tb.Errorf("event %s: rules %q fire, want %q", e.Line, fires, e.Fires)
		return
	}
	if got.Pruned != e.Pruned || got.WithoutLogsource != e.WithoutLogsource {
		tb.Errorf("event %s: %d rules pruned, without logsource %t, want %d, %t", e.Line, got.Pruned, got.WithoutLogsource, e.Pruned, e.WithoutLogsource)
	}
	if len(got.Lines) > 0 {
		e.checkLine(tb, got.Lines[0])
	}
}

func (e *caseEvent) checkLine(tb testing.TB, line []byte) {
	tb.Helper()
	var r struct {
		Selections json.RawMessage `json:"matched_selections"`
		Fields     json.RawMessage `json:"matched_fields"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		tb.Fatalf("event %s: result %s: %v", e.Line, line, err)
	}
	for _, c := range []struct{ what, got, want string }{
		{"matched_selections", string(r.Selections), e.Selections},
		{"matched_fields", string(r.Fields), e.Fields},
		{"result", string(line), e.Result},
	} {
		if c.want != "" && c.got != c.want {
			tb.Errorf("event %s: %s is\n%s, want\n%s", e.Line, c.what, c.got, c.want)
		}
	}
}
