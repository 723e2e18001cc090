package dispatch

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/result"
)

// long returns results that are a piece each.
func long(n int) (all []graph.Result) {
	value := []byte(strconv.Quote(strings.Repeat("x", 300_000)))
	for i := range n {
		r := detection("R" + strconv.Itoa(i))
		r.Detection.Fields = []result.Field{{Name: "f", Value: value}}
		all = append(all, r)
	}
	return all
}

// wantInOrder wants messages of one delivery, numbered from 0.
func wantInOrder(t *testing.T, name string, sets []*graph.Rendered, n int) {
	t.Helper()
	next := 0
	for _, s := range sets {
		for _, m := range s.Messages {
			if m.Index != next || m.ID != sets[0].Messages[0].ID {
				t.Errorf("%s: message %d is number %d of delivery %s, want the order and delivery of the set", name, next, m.Index, m.ID)
			}
			next++
		}
	}
	if next != n {
		t.Errorf("%s: %d messages, want %d", name, next, n)
	}
}

func TestPiecesOfASetLeaveInOrderAsSinksHaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, one, two, drops, _, dropped := spawn(t)
		one.SetAvailable(1)
		drops.SetAvailable(2)
		receipt := graph.NewReceipt(1, func() {})
		set := &graph.ResultSet{Token: receipt.Token(0), Results: long(5)}
		s.Lane().TryPut([]*graph.ResultSet{set, {Record: note("behind")}})
		synctest.Wait()
		if len(one.All()) != 1 || len(two.All()) != 2 {
			t.Errorf("%d and %d pieces, want 1, and 2 at the idle sink: the third is not made before all took the second", len(one.All()), len(two.All()))
		}
		one.SetAvailable(-1)
		synctest.Wait()
		sets := one.All()
		wantInOrder(t, "one", sets[:len(sets)-1], 5)
		wantInOrder(t, "two", two.All()[:len(two.All())-1], 5)
		if *dropped != 2 || len(drops.All()) != 2 { // the rest of the set, once, and what is behind
			t.Errorf("%d dropped and %d taken, want 2 and 2", *dropped, len(drops.All()))
		}
		for i, b := range append(append(one.Bundles()[:5:5], two.Bundles()[:5]...), drops.Bundles()...) {
			if receipt.Open() == 0 {
				t.Errorf("the line ended before piece %d", i)
			}
			b.Ended(0, len(b.Sets))
		}
		if receipt.Open() != 0 || receipt.Overdrawn() != 0 {
			t.Errorf("%d lines open, %d settled too often", receipt.Open(), receipt.Overdrawn())
		}
	})
}

func TestASetThatPanicsInALaterPieceIsQuarantined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, one, two, drops, deadLetters, _ := spawn(t)
		receipt := graph.NewReceipt(1, func() {})
		results := append(long(2), graph.Result{Correlation: new(correlation.Result)})
		s.Lane().TryPut([]*graph.ResultSet{{Token: receipt.Token(0), Raw: []byte("line"), Results: results}, {Record: note("next")}})
		synctest.Wait()
		if got := deadLetters.All(); len(got) != 1 || string(got[0].Original) != "line" {
			t.Fatalf("dead letters %+v, want the line's", got)
		}
		sets := one.All()
		if len(sets) != 3 || sets[2].Record == nil {
			t.Fatalf("%d sets, want the two pieces before and the next set", len(sets))
		}
		for _, q := range []queue{one, two, drops} {
			q.settle()
		}
		deadLetters.All()[0].Token.Settle()
		if receipt.Open() != 0 || receipt.Overdrawn() != 0 {
			t.Errorf("%d lines open, %d settled too often", receipt.Open(), receipt.Overdrawn())
		}
	})
}

func TestPiecesThatNoSinkTakesEndTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		few := newQueue()
		s := New(Options{StageOptions: actors.StageOptions{Capacity: 100}, Sinks: []Sink{{Label: "few", Form: correlations{step.Pretty{}}, To: few}}})
		if _, err := actorstest.System(t, actors.Options{}).Spawn(s.Cell(), s.Produce); err != nil {
			t.Fatal(err)
		}
		receipt := graph.NewReceipt(1, func() {})
		s.Lane().TryPut([]*graph.ResultSet{{Token: receipt.Token(0), Results: long(3)}})
		synctest.Wait()
		if receipt.Open() != 0 || receipt.Overdrawn() != 0 || len(few.All()) != 0 {
			t.Errorf("%d lines open, %d settled too often, %d pieces offered", receipt.Open(), receipt.Overdrawn(), len(few.All()))
		}
	})
}
