package window

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"testing"
)

// naive is the window in its simplest form: a sorted list of entries,
// everything computed from it on demand.
type naive struct{ entries []naiveEntry }

type naiveEntry struct {
	ts int64
	v  int
}

func (n *naive) add(ts int64, v int) {
	i := sort.Search(len(n.entries), func(i int) bool { return n.entries[i].ts > ts })
	n.entries = slices.Insert(slices.Clone(n.entries), i, naiveEntry{ts, v})
}

func (n *naive) dropBefore(cutoff int64) {
	n.entries = slices.DeleteFunc(slices.Clone(n.entries), func(e naiveEntry) bool { return e.ts < cutoff })
}

func (n *naive) trim(limit int, keepFirst bool) {
	for len(n.entries) > limit {
		k := 0
		if keepFirst {
			k = 1
		}
		if k == len(n.entries) {
			return
		}
		n.entries = slices.Delete(slices.Clone(n.entries), k, k+1)
	}
}

// subject is a kind of window under test: how it lists and aggregates itself.
type subject struct {
	name string
	make func() Window
	list func(Window) []naiveEntry
	read func([]byte) (Window, []byte, error)
	same func(Window, *naive) error
}

func numberOf(v int) float64 { return float64(v) / 8 }

func subjects() []subject {
	numbers := func(w Window) (out []naiveEntry) {
		for ts, v := range w.(*Numbers).All() {
			out = append(out, naiveEntry{ts, int(v * 8)})
		}
		return out
	}
	return []subject{
		{
			"counts", func() Window { return new(Counts) },
			func(w Window) (out []naiveEntry) {
				for ts, n := range w.(*Counts).All() {
					for range n {
						out = append(out, naiveEntry{ts, 0})
					}
				}
				return out
			},
			func(b []byte) (Window, []byte, error) { return asWindow(ReadCounts(b)) },
			sameCounts,
		},
		{
			"distinct", func() Window { return new(Distinct) },
			func(w Window) (out []naiveEntry) {
				for ts, s := range w.(*Distinct).All() {
					v, _ := strconv.Atoi(s)
					out = append(out, naiveEntry{ts, v})
				}
				return out
			},
			func(b []byte) (Window, []byte, error) { return asWindow(ReadDistinct(b)) },
			func(w Window, n *naive) error {
				set := map[int]bool{}
				for _, e := range n.entries {
					set[e.v] = true
				}
				return want("distinct texts", w.(*Distinct).Count(), len(set))
			},
		},
		{
			"sum", func() Window { return new(Numbers) }, numbers,
			func(b []byte) (Window, []byte, error) { return asWindow(ReadNumbers(b, false)) },
			func(w Window, n *naive) error {
				sum := 0.0 // eighths of small numbers: exact
				for _, e := range n.entries {
					sum += numberOf(e.v)
				}
				return want("sum", w.(*Numbers).Sum(), sum)
			},
		},
		{
			"ranks", func() Window { return NewRanked() }, numbers,
			func(b []byte) (Window, []byte, error) { return asWindow(ReadNumbers(b, true)) },
			sameRanks,
		},
	}
}

func asWindow[W Window](w W, rest []byte, err error) (Window, []byte, error) { return w, rest, err }

func sameCounts(w Window, n *naive) error {
	for _, e := range n.entries {
		for _, ts := range []int64{e.ts, e.ts + 1} {
			i := sort.Search(len(n.entries), func(i int) bool { return n.entries[i].ts >= ts })
			got, ok := w.(*Counts).NotBefore(ts)
			if ok != (i < len(n.entries)) || ok && got != n.entries[i].ts {
				return fmt.Errorf("not before %d: got %d, %v", ts, got, ok)
			}
		}
	}
	return nil
}

func sameRanks(w Window, n *naive) error {
	if len(n.entries) == 0 {
		return nil
	}
	var sorted []float64
	for _, e := range n.entries {
		sorted = append(sorted, numberOf(e.v))
	}
	slices.Sort(sorted)
	at := func(i int) float64 { return sorted[i] }
	for _, p := range []float64{0, 12.5, 50, 90, 99.9, 100} {
		if err := want(fmt.Sprint("percentile ", p), w.(*Numbers).Percentile(p), Percentile(p, len(sorted), at)); err != nil {
			return err
		}
	}
	return want("median", w.(*Numbers).Median(), Median(len(sorted), at))
}

func want[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s: got %v, want %v", what, got, want)
	}
	return nil
}

func (s *subject) compare(w Window, n *naive) error {
	entries := n.entries
	if s.name == "counts" {
		entries = slices.Clone(entries)
		for i := range entries {
			entries[i].v = 0
		}
	}
	if got := s.list(w); !slices.Equal(got, entries) || w.Len() != len(entries) {
		return fmt.Errorf("entries: got %d %v, want %v", w.Len(), got, entries)
	}
	if len(entries) > 0 && (w.First() != entries[0].ts || w.Last() != entries[len(entries)-1].ts) {
		return fmt.Errorf("bounds: got %d..%d, want %v", w.First(), w.Last(), entries)
	}
	return s.same(w, n)
}

// drive applies the steps that raw spells to a window and to the naive one.
func (s *subject) drive(raw []byte) error {
	w, n := s.make(), &naive{}
	ts := int64(1000)
	type frozen struct {
		w    Window
		want []naiveEntry
	}
	var clones []frozen
	var spare Window
	for len(raw) >= 2 {
		op, arg := raw[0], int(raw[1])
		raw = raw[2:]
		switch op % 12 {
		case 0, 1, 2, 3:
			ts += int64(arg % 4)
			w.Add(ts, contribution(arg), nil)
			n.add(ts, arg)
		case 4, 5:
			late := max(0, ts-int64(arg%32))
			w.Add(late, contribution(arg), nil)
			n.add(late, arg)
		case 6:
			w.DropBefore(ts - int64(arg))
			n.dropBefore(ts - int64(arg))
		case 7, 8:
			w.Trim(arg+1, op%12 == 8)
			n.trim(arg+1, op%12 == 8)
		case 9:
			clones = append(clones, frozen{w, slices.Clone(n.entries)})
			w = w.Fork()
		case 10:
			var undo Undo
			spare = w.Save(spare)
			for i := range int64(arg % 8) {
				w.Add(ts-5*i, contribution(arg), &undo)
			}
			w.DropBefore(ts - int64(arg/2))
			w.Add(ts, contribution(arg), &undo)
			w.Add(ts-4, contribution(arg), &undo)
			if arg%3 == 0 { // an action that resets
				w.Clear()
				w.Add(ts, contribution(arg/3), &undo)
				w.Add(ts-2, contribution(arg/5), &undo)
			}
			w.Trim(1+arg/4, arg%2 == 0)
			w.Add(ts-9, contribution(arg), &undo)
			undo.Run()
			w.Restore(spare)
			w.Rebuild()
		case 11:
			if arg == 0 {
				ts += math.MaxUint32 + 7 // further than one piece reaches
			}
			if arg%4 == 1 {
				w.Clear()
				n.entries = nil
			}
		}
		if err := s.compare(w, n); err != nil {
			return fmt.Errorf("after step %d of %d: %w", op%12, arg, err)
		}
	}
	for _, c := range clones {
		if got := s.list(c.w); len(got) != len(c.want) || s.name != "counts" && !slices.Equal(got, c.want) {
			return fmt.Errorf("what was left behind changed: got %v, want %v", got, c.want)
		}
	}
	buf := w.Append(nil)
	again, rest, err := s.read(append(slices.Clip(buf), "rest"...))
	if err != nil || string(rest) != "rest" {
		return fmt.Errorf("read back: %w, rest %q", err, rest)
	}
	if err := s.compare(again, n); err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	again.Trim(1, false)
	n.trim(1, false)
	return s.compare(again, n)
}

func contribution(v int) *Contribution {
	text := []byte(strconv.Itoa(v))
	return &Contribution{Text: text, Mark: Hash(text), Number: numberOf(v)}
}

func TestEveryWindowEqualsTheNaiveOne(t *testing.T) {
	for _, s := range subjects() {
		t.Run(s.name, func(t *testing.T) {
			for seed := range uint64(16) {
				r := rand.New(rand.NewPCG(seed, 1))
				raw := make([]byte, 1600)
				for i := range raw {
					raw[i] = byte(r.Uint32())
				}
				if err := s.drive(raw); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

func FuzzEveryWindowEqualsTheNaiveOne(f *testing.F) {
	f.Add([]byte{0, 1, 4, 9, 8, 3, 10, 2, 9, 9, 11, 0, 0, 1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, s := range subjects() {
			if err := s.drive(raw[:min(len(raw), 400)]); err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
		}
	})
}

// Foreign bytes are refused or read, nothing else.
func FuzzRead(f *testing.F) {
	for _, s := range subjects() {
		w := s.make()
		w.Add(5, contribution(3), nil)
		w.Add(9, contribution(3), nil)
		f.Add(w.Append(nil))
	}
	f.Add([]byte("\x01\x0300000\x01")) // the entry kept apart is not the first
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, s := range subjects() {
			w, _, err := s.read(raw)
			if err != nil {
				continue
			}
			if again, rest, err := s.read(w.Append(nil)); err != nil || len(rest) > 0 || again.Len() != w.Len() {
				t.Fatalf("%s: got %v after a round trip of %x", s.name, err, raw)
			}
		}
		_, _, _ = ReadHits(raw)
	})
}

func TestTextsThatClashAreToldApart(t *testing.T) {
	var s textSet
	var texts []*text
	enter := func(b []byte) {
		texts = append(texts, newText(b))
		s.add(texts[len(texts)-1])
	}
	for i := range 20 {
		enter(fmt.Appendf(nil, "a text too long to be kept in its own line, number %d", i))
	}
	seen := map[uint32]int{}
	for i := range 1 << 20 { // two of so many have one hash
		b := fmt.Append(nil, i)
		if first, ok := seen[Hash(b)]; ok {
			enter(fmt.Append(nil, first))
			enter(b)
		}
		seen[Hash(b)] = i
	}
	if len(texts) == 20 {
		t.Fatal("no two texts clash: the test tests nothing")
	}
	for left := len(texts); left > 0; left-- {
		if s.len() != left {
			t.Fatalf("got %d texts, want %d", s.len(), left)
		}
		for _, x := range texts[len(texts)-left:] {
			if s.find(x.bytes(), Hash(x.bytes())) != x {
				t.Fatalf("with %d left: did not find %q", left, x.bytes())
			}
		}
		s.remove(texts[len(texts)-left])
	}
}

func TestHitsInOrder(t *testing.T) {
	for _, tc := range []struct {
		name string
		hits [][]int64
		want bool
	}{
		{"one after the other", [][]int64{{10}, {20}, {30}}, true},
		{"the same second is in order", [][]int64{{10}, {10}}, true},
		{"the last step is missing", [][]int64{{10}, {20}, nil}, false},
		{"the wrong way round", [][]int64{{20}, {10}}, false},
		{"a later hit repairs the order", [][]int64{{20}, {10, 25}}, true},
		{"the earliest chain has to be followed to its end", [][]int64{{1, 50}, {10, 60}, {9, 11}}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := NewHits(len(tc.hits))
			for i, hits := range tc.hits {
				for _, ts := range hits {
					h.Add(ts, &Contribution{Members: []uint16{uint16(i)}}, nil)
				}
			}
			if got := h.InOrder(); got != tc.want {
				t.Errorf("hits %v: got %v, want %v", tc.hits, got, tc.want)
			}
		})
	}
}

func TestHitsSurviveEncoding(t *testing.T) {
	h := NewHits(3)
	h.Add(10, &Contribution{Members: []uint16{0, 2}}, nil)
	h.Add(15, &Contribution{Members: []uint16{2}}, nil)
	again, rest, err := ReadHits(h.Append(nil))
	if err != nil || len(rest) > 0 {
		t.Fatalf("read back: %v, rest %x", err, rest)
	}
	if again.Count() != 2 || again.Len() != 3 || again.First() != 10 || again.Last() != 15 {
		t.Errorf("got %d members with %d hits from %d to %d, want 2 with 3 from 10 to 15",
			again.Count(), again.Len(), again.First(), again.Last())
	}
}
