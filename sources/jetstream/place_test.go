package jetstream

import (
	"testing"

	"github.com/sluicehq/sluice/graph"
)

func TestPlacesAreReadFromReplySubjects(t *testing.T) {
	at := graph.Position{Sequence: 42, Time: 1_700_000_000}
	for _, tc := range []struct {
		name, reply string
		want        graph.Position
		ok          bool
	}{
		{"a consumer of the account", "$JS.ACK.EVENTS.sluice-daemon-events.1.42.7.1700000000123456789.10", at, true},
		{"a consumer with domain and account", "$JS.ACK.hub.ACCHASH.EVENTS.c.1.42.7.1700000000123456789.10.tOkEn", at, true},
		{"a consumer with domain and account, without a token", "$JS.ACK._.ACCHASH.EVENTS.c.1.42.7.1700000000123456789.10", at, true},
		{"no reply subject", "", graph.Position{}, false},
		{"an inbox", "_INBOX.a.b", graph.Position{}, false},
		{"one that is too short", "$JS.ACK.EVENTS.c.1", graph.Position{}, false},
		{"a sequence that is no number", "$JS.ACK.EVENTS.c.1.x.7.1700000000123456789.10", graph.Position{}, false},
		{"a time that is no number", "$JS.ACK.EVENTS.c.1.42.7.-5.10", graph.Position{}, false},
		{"a sequence beyond all numbers", "$JS.ACK.EVENTS.c.1.99999999999999999999.7.1700000000123456789.10", graph.Position{}, false},
	} {
		if got, ok := placeOf(tc.reply); ok != tc.ok || ok && got != tc.want {
			t.Errorf("%s: got %+v, %v, want %+v, %v", tc.name, got, ok, tc.want, tc.ok)
		}
	}
	if n := testing.AllocsPerRun(100, func() { placeOf("$JS.ACK.EVENTS.sluice-daemon-events.1.42.7.1700000000123456789.10") }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
