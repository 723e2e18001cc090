package graph_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/graph"
)

// bundled returns a bundle of so many sets for so many sinks, and which of its lines
// have ended so far.
func bundled(t *testing.T, sets, sinks int) (b *graph.Bundle, receipt *graph.Receipt, ended func() string) {
	t.Helper()
	var deliveries []graph.Delivery
	var lines []*delivered
	for range sets {
		d := new(delivered)
		lines = append(lines, d)
		deliveries = append(deliveries, d)
	}
	receipt = graph.NewDeliveryReceipt(deliveries)
	var rendered []graph.Rendered
	var messages []graph.Message
	for i := range sets {
		messages = append(messages, graph.Message{Index: i})
		rendered = append(rendered, graph.Rendered{Token: receipt.Token(i), Messages: messages[i:], Bytes: 10})
	}
	b = new(graph.Bundle)
	b.Begin(sinks, nil)
	b.Extend(rendered, messages, nil)
	return b, receipt, func() string {
		var all []int
		for i, d := range lines {
			if d.ended > 0 {
				all = append(all, i)
			}
		}
		return fmt.Sprint(all)
	}
}

// delivered is a delivery that counts how often it was told its end.
type delivered struct{ ended int }

func (*delivered) Position() graph.Position { return graph.Position{} }
func (*delivered) Entered(uint64)           {}
func (d *delivered) Ended()                 { d.ended++ }

func TestALineOfABundleEndsWithTheLastSink(t *testing.T) {
	type step struct {
		from, to int // sets that have ended for some sink
		want     string
	}
	for _, tc := range []struct {
		name        string
		sets, sinks int
		steps       []step
	}{
		{"one sink, all at once", 3, 1, []step{{0, 3, "[0 1 2]"}}},
		{"one sink, one by one", 3, 1, []step{{0, 1, "[0]"}, {1, 2, "[0 1]"}, {2, 3, "[0 1 2]"}}},
		{"one sink, out of order", 3, 1, []step{{2, 3, "[2]"}, {0, 2, "[0 1 2]"}}},
		{"three sinks, all at once", 2, 3, []step{{0, 2, "[]"}, {0, 2, "[]"}, {0, 2, "[0 1]"}}},
		{"a sink comes to a part of it before the other is through", 3, 2, []step{{0, 2, "[]"}, {0, 3, "[0 1]"}, {2, 3, "[0 1 2]"}}},
		{"a sink comes to a part of it afterwards", 3, 2, []step{{0, 3, "[]"}, {0, 1, "[0]"}, {1, 3, "[0 1 2]"}}},
		{"both come to parts of it", 3, 2, []step{{0, 2, "[]"}, {0, 1, "[0]"}, {2, 3, "[0]"}, {1, 3, "[0 1 2]"}}},
		{"one in parts among two at once", 3, 3, []step{{0, 3, "[]"}, {1, 2, "[]"}, {0, 3, "[1]"}, {0, 1, "[0 1]"}, {2, 3, "[0 1 2]"}}},
		{"a single set", 1, 2, []step{{0, 1, "[]"}, {0, 1, "[0]"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, receipt, ended := bundled(t, tc.sets, tc.sinks)
			for i, s := range tc.steps {
				b.Ended(s.from, s.to)
				if got := ended(); got != s.want {
					t.Errorf("after step %d the lines %s have ended, want %s", i, got, s.want)
				}
			}
			if receipt.Open() != 0 || receipt.Overdrawn() != 0 {
				t.Errorf("%d lines are open, %d settled too often", receipt.Open(), receipt.Overdrawn())
			}
		})
	}
}

func TestABundleThatIsUsedAgainOwesNothingOfBefore(t *testing.T) {
	b, _, _ := bundled(t, 3, 2)
	b.Ended(1, 2)
	b.Ended(0, 3)
	receipt := graph.NewReceipt(1, func() {})
	b.Begin(1, nil)
	b.Extend([]graph.Rendered{{Token: receipt.Token(0)}}, nil, nil)
	b.Ended(0, 1)
	if receipt.Open() != 0 || receipt.Overdrawn() != 0 {
		t.Errorf("%d lines are open, %d settled too often", receipt.Open(), receipt.Overdrawn())
	}
}

func TestPartsOfABundleEndTheLinesOfTheWhole(t *testing.T) {
	spent := 0
	memory := graph.NewBuffer(nil, func(*graph.Buffer) { spent++ })
	b, receipt, ended := bundled(t, 5, 2)
	b.Buffer = memory
	memory.Retain(1) // one share for each of the sinks
	first, second := b.Part(0, 2), b.Part(3, 5)
	if units, bytes := graph.SizeOfBundle(second); units != 2 || bytes != 20 || len(second.Messages) != 2 || second.Messages[0].Index != 3 {
		t.Errorf("a part has %d units, %d bytes and the messages %v, want those of its two sets", units, bytes, second.Messages)
	}
	b.Ended(2, 3) // dropped
	b.Release()
	b.Ended(0, 5) // the other sink
	b.Release()
	second.Ended(1, 2)
	first.Ended(0, 2)
	first.Release()
	if got := ended(); got != "[0 1 2 4]" || spent != 0 {
		t.Errorf("the lines %s have ended, and the memory %d times, want [0 1 2 4] and not yet", got, spent)
	}
	second.Ended(0, 1)
	second.Release()
	if got := ended(); got != "[0 1 2 3 4]" || receipt.Overdrawn() != 0 || spent != 1 {
		t.Errorf("the lines %s have ended, and the memory %d times, want all and once", got, spent)
	}
}

func TestABundleAloneKnowsWhatCouldNotBeWritten(t *testing.T) {
	broken := graph.Message{}
	broken.Fail(fmt.Errorf("no JSON"))
	for _, messages := range [][]graph.Message{{{}, {}}, {{}, broken}} {
		b := graph.Alone(graph.Rendered{Messages: messages}, 1)
		want := slices.ContainsFunc(messages, func(m graph.Message) bool { return m.Err() != nil })
		if b.Faulty != want || len(b.Messages) != 2 || len(b.Sets) != 1 {
			t.Errorf("got %+v, want faulty: %t", b, want)
		}
	}
}

func TestLinesThatNobodyWaitsForAreCountedWhenTheirBundleEnds(t *testing.T) {
	open := graph.NewOpen()
	open.Admitted(2)
	b := new(graph.Bundle)
	b.Begin(2, nil)
	b.Extend([]graph.Rendered{{Token: open.Token(graph.Token{})}, {Token: open.Token(graph.Token{})}, {}}, nil, nil) // the last is a record
	b.Ended(0, 3)
	if _, left := open.Lines(); left != 2 {
		t.Errorf("%d lines are open after one of two sinks, want 2", left)
	}
	b.Ended(0, 3)
	if _, left := open.Lines(); left != 0 {
		t.Errorf("%d lines are open, want none", left)
	}
}
