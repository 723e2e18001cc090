package sources_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/state"
)

// book is a ledger of messages that are named by their sequences; a message is
// published so many seconds after 1000 as its sequence says.
type book struct {
	*sources.Ledger[string]
	t     *testing.T
	lines map[uint64]graph.Delivery
}

func newBook(t *testing.T, snapshot bool, limit int) *book {
	t.Helper()
	return &book{
		t: t, lines: make(map[uint64]graph.Delivery),
		Ledger: sources.NewLedger[string](sources.LedgerOptions{Stream: "s", Consumer: "c", Snapshot: snapshot, Limit: limit}),
	}
}

// deliver delivers sequences and has parse take those that are put in, in an epoch;
// 0 leaves them on their way.
func (b *book) deliver(epoch uint64, sequences ...uint64) (put []uint64) {
	for _, s := range sequences {
		if d := b.Deliver(graph.Position{Sequence: s, Time: 1000 + int64(s)}, fmt.Sprint(s)); d != nil {
			b.lines[s] = d
			put = append(put, s)
			if epoch > 0 {
				d.Entered(epoch)
			}
		}
	}
	return put
}

func (b *book) end(sequences ...uint64) {
	for _, s := range sequences {
		b.lines[s].Ended()
	}
}

// confirm confirms what is due and returns it.
func (b *book) confirm() (sequences []uint64) {
	for _, a := range b.Acks(nil) {
		b.Confirmed(a.Sequence)
		sequences = append(sequences, a.Sequence)
	}
	return sequences
}

func (b *book) want(what string, got, want []uint64) {
	b.t.Helper()
	if !slices.Equal(got, want) {
		b.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// wantCut checks what the head of a save says; position 0 stands for none.
func (b *book) wantCut(epoch, position uint64, covered ...uint64) {
	b.t.Helper()
	all, covers := b.Cover(epoch)
	got, c := uint64(0), covers[0]
	if len(all) > 0 {
		p := all[0]
		got = p.Sequence
		if p.Time != 1000+int64(got) || p.Stream != "s" {
			b.t.Errorf("position %+v, want the time of the message and the stream", p)
		}
	}
	if got != position || !slices.Equal(slices.Collect(c.Ranges.All()), covered) {
		b.t.Errorf("cut at %d, covered %v, want %d and %v", got, slices.Collect(c.Ranges.All()), position, covered)
	}
}

func span(from, to uint64) (s []uint64) {
	for ; from <= to; from++ {
		s = append(s, from)
	}
	return s
}

func TestAPositionIsTheHighestUpToWhichEverythingLiesBeforeTheBarrier(t *testing.T) {
	for _, tc := range []struct {
		name     string
		run      func(b *book)
		position uint64 // of a barrier that ends epoch 1
	}{
		{"nothing was delivered", func(*book) {}, 0},
		{"everything lies before it", func(b *book) { b.deliver(1, 3, 5, 9) }, 9},
		{"a line behind it counts from its sequence on", func(b *book) { b.deliver(1, 3, 5); b.deliver(2, 9) }, 5},
		{"a line on its way to parse lies behind it", func(b *book) { b.deliver(1, 3, 5); b.deliver(0, 9) }, 5},
		{"what arrives late holds the position back", func(b *book) { b.deliver(1, 3, 7, 9); b.deliver(2, 5) }, 3},
		{"also when it arrives while nothing before it was delivered", func(b *book) { b.deliver(1, 7, 9); b.deliver(2, 5) }, 0},
		{"also when it has ended and is acknowledged already", func(b *book) {
			b.deliver(1, 3, 7, 9)
			b.deliver(2, 5)
			b.end(5)
			b.confirm()
		}, 3},
		{"what arrived late before it holds nothing back", func(b *book) { b.deliver(1, 7, 9, 5) }, 9},
		{"a delivery again of what lies before it changes nothing", func(b *book) { b.deliver(1, 3, 5, 9); b.deliver(2, 5) }, 9},
		{"a line that ended without reaching parse holds nothing back", func(b *book) {
			b.deliver(1, 3)
			b.deliver(0, 5)
			b.end(5)
		}, 5},
		{"a barrier that was given up in between does not count", func(b *book) {
			b.deliver(1, 3)
			b.deliver(2, 5)
			b.end(5)
			b.confirm()
			b.deliver(3, 4)
		}, 3},
		{"of very many, those behind it are known exactly", func(b *book) {
			b.deliver(1, span(1, 20_000)...)
			b.deliver(2, 20_001)
		}, 20_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBook(t, false, 100_000)
			tc.run(b)
			p, _ := b.Cover(1)
			if (p == nil) != (tc.position == 0) || p != nil && (p[0].Sequence != tc.position || p[0].Time != 1000+int64(tc.position)) {
				t.Errorf("position %+v, want %d", p, tc.position)
			}
		})
	}
}

func TestARestoredPositionIsWhereARunBegins(t *testing.T) {
	stored := []state.Position{{Stream: "of another input", Sequence: 7}, {Stream: "s", Sequence: 100, Time: 1100}}
	covered := []state.Covered{
		{Stream: "s", Consumer: "c", Ranges: state.RangesOf([]uint64{98, 100})},
		{Stream: "s", Consumer: "another", Ranges: state.RangesOf([]uint64{97})},
	}
	b := newBook(t, true, 1000)
	b.Restore(stored, covered)
	b.wantCut(1, 100, 98, 100)
	b.want("put in", b.deliver(1, 97, 98), []uint64{97})
	b.wantCut(1, 100, 97, 98, 100)
	b.wantCut(0, 0, 98, 100) // 97 lies behind it
	b.want("confirmed", b.confirm(), []uint64{98})
	b.deliver(1, 101)
	b.wantCut(1, 101, 97, 100, 101)

	another := newBook(t, true, 1000) // of the same stream
	another.Restore([]state.Position{{Stream: "s", Consumer: "another", Sequence: 7, Time: 1007}, {Stream: "s", Consumer: "c", Sequence: 100, Time: 1100}, {Stream: "s", Consumer: "third", Sequence: 9, Time: 1009}}, covered)
	another.wantCut(1, 100, 98, 100)

	other := newBook(t, true, 1000)
	other.Restore([]state.Position{{Stream: "another", Sequence: 100, Time: 1100}}, covered)
	other.deliver(1, 5)
	other.wantCut(1, 5, 5, 98, 100)
}

func TestAStreamThatWasMadeAnewTakesNothingOver(t *testing.T) {
	options := sources.LedgerOptions{Stream: "s", Identity: "s@1", Consumer: "c", Snapshot: true, Limit: 10}
	l := sources.NewLedger[string](options)
	l.Restore([]state.Position{{Stream: "s@0", Sequence: 50, Time: 1050}}, []state.Covered{{Stream: "s@0", Consumer: "c", Ranges: state.RangesOf(span(1, 50))}})
	d := l.Deliver(graph.Position{Sequence: 1, Time: 2001}, "1")
	if d == nil {
		t.Fatal("the first message of the new stream is taken for one of the old stream")
	}
	if got, want := d.Position(), (graph.Position{Stream: "s", Sequence: 1, Time: 2001}); got != want {
		t.Errorf("position %v, want %v", got, want)
	}
	d.Entered(1)
	positions, covered := l.Cover(1)
	if want := (state.Position{Stream: "s@1", Consumer: "c", Sequence: 1, Time: 2001}); len(positions) != 1 || positions[0] != want || covered[0].Stream != "s@1" {
		t.Errorf("the head says %v and %v, want %v", positions, covered, want)
	}
}

func TestWhenAMessageIsAcknowledged(t *testing.T) {
	for _, tc := range []struct {
		name     string
		snapshot bool
		run      func(b *book) // after three messages in each of two epochs, of which all but 5 have ended
		want     []uint64
	}{
		{"delivered: when it has ended", false, func(*book) {}, []uint64{1, 2, 3, 4, 6}},
		{"delivered: a save changes nothing", false, func(b *book) { b.Saved(2) }, []uint64{1, 2, 3, 4, 6}},
		{"snapshot: not when it has ended", true, func(*book) {}, nil},
		{"snapshot: when it is saved", true, func(b *book) { b.Saved(1) }, []uint64{1, 2, 3}},
		{"snapshot: a later save covers the ones before", true, func(b *book) { b.Saved(2) }, []uint64{1, 2, 3, 4, 6}},
		{"snapshot: what never reached parse is in no state", true, func(b *book) {
			b.deliver(0, 7)
			b.end(7)
		}, []uint64{7}},
		{"the last save covers everything that has ended", true, func(b *book) {
			b.end(5)
			b.Saved(sources.Final)
		}, []uint64{1, 2, 3, 4, 5, 6}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBook(t, tc.snapshot, 1000)
			b.deliver(1, 1, 2, 3)
			b.deliver(2, 4, 5, 6)
			b.end(1, 2, 3, 4, 6)
			tc.run(b)
			got := b.confirm()
			slices.Sort(got)
			b.want("acknowledged", got, tc.want)
		})
	}
}

func TestAMessageIsPutInOnce(t *testing.T) {
	b := newBook(t, true, 1000)
	b.want("put in", b.deliver(1, 1, 2), []uint64{1, 2})
	b.want("put in while worked on", b.deliver(2, 1), nil)
	b.end(1)
	b.want("put in while waiting for a save", b.deliver(2, 1), nil)
	b.want("acknowledged meanwhile", b.confirm(), nil)
	b.Saved(1)
	if acks := b.Acks(nil); len(acks) != 1 || acks[0].Sequence != 1 { // it fails
		t.Errorf("due: %v, want 1", acks)
	}
	b.want("put in after a failed acknowledgement", b.deliver(2, 1), nil)
	b.want("acknowledged again", b.confirm(), []uint64{1})
	b.want("put in behind a confirmation", b.deliver(2, 1), nil)
	b.want("acknowledged a third time", b.confirm(), []uint64{1})
	if n := b.Repeats(); n != 2 {
		t.Errorf("%d repeats, want 2: behind a failed acknowledgement and behind one that succeeded", n)
	}
	if held := b.Held(); len(held) != 1 || held[0] != "2" {
		t.Errorf("held %v, want 2", held)
	}
	d := b.Deliver(graph.Position{Sequence: 1, Time: 5}, "1")
	if d == nil {
		t.Fatal("a message of another time is not put in: the stream was made anew")
	}
	if got, want := d.Position(), (graph.Position{Stream: "s", Sequence: 1, Time: 5}); got != want {
		t.Errorf("position %v, want %v", got, want)
	}
}

func TestTheCoveredSetStaysBounded(t *testing.T) {
	b := newBook(t, true, 10)
	b.Restore(nil, []state.Covered{{Stream: "s", Consumer: "c", Ranges: state.RangesOf(span(1, 40))}})
	b.deliver(1, 3) // only this one comes again
	b.deliver(1, 41, 42, 43, 44)
	want := append([]uint64{3}, span(6, 44)...)
	b.wantCut(1, 44, want...)
	b.wantCut(1, 44, want...)
}

func TestASaveIsAskedForWhenHalfIsUnacknowledged(t *testing.T) {
	asked := func(b *book) bool {
		select {
		case <-b.Early():
			return true
		default:
			return false
		}
	}
	b := newBook(t, true, 10)
	for _, step := range []struct {
		name string
		do   func()
		want bool
	}{
		{"below half", func() { b.deliver(1, 1, 2, 3, 4) }, false},
		{"at half", func() { b.deliver(1, 5) }, true},
		{"once", func() { b.deliver(2, 6) }, false},
		{"a save behind which less than half is left", func() { b.end(1, 2, 3); b.Saved(1) }, false},
		{"at half again", func() { b.deliver(2, 7, 8) }, true},
		{"a save that releases too little", func() { b.end(4); b.Saved(1) }, false},
		{"and at half again", func() { b.deliver(2, 9) }, true},
		{"a save that releases nothing", func() { b.Saved(1) }, true},
	} {
		step.do()
		if got := asked(b); got != step.want {
			t.Errorf("%s: asked %v, want %v", step.name, got, step.want)
		}
	}
	b = newBook(t, false, 2)
	b.deliver(1, 1, 2)
	if asked(b) {
		t.Error("asked for a save in the mode delivered, want never")
	}
}
