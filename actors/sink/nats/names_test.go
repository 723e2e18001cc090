package nats

import (
	"testing"

	"github.com/sluicehq/sluice/graph"
)

// Two sinks may publish one delivery to one stream, which stores an id once.
func TestSinksBehindTheFirstHaveIdsOfTheirOwn(t *testing.T) {
	m := graph.Message{Envelope: &graph.Envelope{ID: graph.DeliveryID{15: 1}}, Index: 7}
	for label, want := range map[string]string{
		"nats":   "msg_00000000000000000000000000000001-7",
		"nats-2": "msg_00000000000000000000000000000001-7-nats-2",
		"dlq":    "msg_00000000000000000000000000000001-7-dlq",
	} {
		if got := string(m.AppendID(nil, label, firstLabel)); got != want {
			t.Errorf("%s: got %s, want %s", label, got, want)
		}
	}
}
