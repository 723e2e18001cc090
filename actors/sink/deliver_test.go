package sink

import (
	"context"
	"errors"
	"testing"

	"github.com/sluicehq/sluice/graph"
)

// remarking takes everything, with a remark.
type remarking struct{ Transport }

func (remarking) Write(_ context.Context, messages []graph.Message) (int, error) {
	return len(messages), errors.New("one of them was odd")
}

func TestWhatIsTakenWithARemarkIsDelivered(t *testing.T) {
	var told []int
	items := [][]graph.Message{{{Envelope: &graph.Envelope{}, Body: []byte("a")}}, {{Envelope: &graph.Envelope{}, Body: []byte("b")}}}
	for i, err := range Deliver(t.Context(), KindFile, remarking{}, Retry{}, items, func(attempt int, _ error) { told = append(told, attempt) }) {
		if err != nil {
			t.Errorf("item %d: %v, want it delivered", i, err)
		}
	}
	if len(told) != 1 || told[0] != 0 {
		t.Errorf("told of attempts %v, want the remark once", told)
	}
}
