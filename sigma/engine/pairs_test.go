package engine

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/load"
)

// pairsAgain makes an event of keys and values in turn as plainly as that can be written.
func pairsAgain(table *scan.Table, texts [][]byte) (doc []byte, root int, cells []scan.Cell) {
	keyword := scan.Flags(0)
	if table.Keywords {
		keyword = scan.Keyword
	}
	cell := func(value []byte) scan.Cell {
		c := scan.Cell{Start: uint32(len(doc)), Type: event.String}
		for _, b := range value {
			switch {
			case b >= 0x80:
				c.Flags |= scan.High
			case b < ' ' || b == '"' || b == '\\':
				c.Flags |= scan.Escaped
			}
		}
		doc = event.AppendQuoted(doc, value)
		c.End = uint32(len(doc))
		return c
	}
	doc = append(doc, '{')
	seen := map[string]bool{}
	best := map[uint32]uint16{}
	var repeated [][]byte
	for i := 0; i+1 < len(texts); i += 2 {
		key := string(texts[i])
		if seen[key] {
			repeated = append(repeated, texts[i+1])
			continue
		}
		seen[key] = true
		if len(doc) > 1 {
			doc = append(doc, ',')
		}
		doc = append(event.AppendQuoted(doc, key), ':')
		c, mark := cell(texts[i+1]), keyword
		table.Flat(texts[i], func(field uint32, rank uint16) {
			t := c
			t.Field, t.Rank, t.Flags = field, rank, c.Flags|scan.Terminal|mark
			cells, mark = append(cells, t), 0
			if r, known := best[field]; !known || rank < r {
				best[field] = rank
			}
		})
		if mark != 0 {
			c.Flags |= mark
			cells = append(cells, c)
		}
	}
	doc = append(doc, '}')
	root = len(doc)
	for _, value := range repeated {
		if keyword != 0 {
			c := cell(value)
			c.Flags |= keyword
			cells = append(cells, c)
		}
	}
	for i := range cells {
		if c := &cells[i]; c.Field != 0 && c.Rank > best[c.Field] {
			c.Field, c.Rank, c.Flags = 0, 0, c.Flags&^scan.Terminal
		}
	}
	cells = slices.DeleteFunc(cells, func(c scan.Cell) bool { return c.Flags&(scan.Terminal|scan.Keyword) == 0 })
	return doc, root, cells
}

// pairsWorkers are workers of sets that look at pairs in every way: with keywords and
// without, and with fields that several names lead to.
func pairsWorkers(tb testing.TB) []*Worker {
	tb.Helper()
	var out []*Worker
	for _, rest := range []string{"condition: sel", "kw: [evil], condition: sel or kw"} {
		for _, paths := range [][]string{nil, {"host", "a", "b"}} {
			c := load.FromBytes("r.yml", []byte("title: T\nlogsource: {product: linux}\ndetection: {sel: {host: z, a: x, a.b: y}, "+rest+"}\n"), load.Options{})
			c.Rules[0].Detections[0].Node.Items[0].Paths = paths
			set, err := Compile(c.Rules, Options{Routing: DefaultRouting()})
			if err != nil {
				tb.Fatal(err)
			}
			out = append(out, set.NewWorker())
		}
	}
	return out
}

func checkPairs(t *testing.T, w *Worker, ev *Events, texts [][]byte) {
	t.Helper()
	n := ev.Len()
	p := w.Pairs(ev)
	for i := 0; i+1 < len(texts); i += 2 {
		p.Add(texts[i], texts[i+1])
	}
	p.End()
	doc, root, cells := pairsAgain(w.set.plan.Fields.Table, texts)
	got := &ev.list[n]
	if string(got.doc) != string(doc) || got.root != uint32(root) || got.kind != event.Pairs {
		t.Errorf("%q: got %s, want %s", texts, got.doc, doc)
	}
	if have := ev.cells[got.first:got.last]; !slices.Equal(have, cells) {
		t.Errorf("%q: got cells %v, want %v", texts, have, cells)
	}
}

// Whatever a worker remembers, an event of pairs is the same.
func FuzzPairsAgreeWithThePlainWay(f *testing.F) {
	for _, s := range []string{
		"a=1,a=evil,b=2", "b=1,a=2,host=3,a.b=4", "b=1,a=2;b=1,a=2;b=1,host=1", "host=z,a.b=y,product=linux,category=x", "=,=,\xff=\x01,\xfe=\\", "k=\"q\",é=ü", "\xff=1,\xff=2", "b=1,a=2;a=1,b=2,a=3;b=1,a=2",
	} {
		f.Add([]byte(s))
	}
	workers := pairsWorkers(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, w := range workers {
			ev := new(Events)
			for one := range bytes.SplitSeq(in, []byte(";")) {
				checkPairs(t, w, ev, bytes.FieldsFunc(one, func(r rune) bool { return r == '=' || r == ',' }))
			}
		}
	})
}

func TestPairsWithKeysThatAreNotRemembered(t *testing.T) {
	long := bytes.Repeat([]byte("k"), maxPairKeyLength+1)
	var many [][]byte
	for i := range 3 * maxPairKeys {
		many = append(many, fmt.Append(nil, "key", i%(2*maxPairKeys)), []byte("evil"))
	}
	for _, w := range pairsWorkers(t) {
		ev := new(Events)
		for _, texts := range [][][]byte{
			{long, []byte("1"), long, []byte("2"), []byte("a"), []byte("x")},
			many,
			{[]byte("a"), []byte("x"), []byte("a"), []byte("y")},
			many[len(many)/2:],
			many[:100],
			{},
		} {
			checkPairs(t, w, ev, texts)
		}
	}
}

func TestAnEventThatIsGivenUpLeavesNothingBehind(t *testing.T) {
	for _, w := range pairsWorkers(t) {
		ev := new(Events)
		p := w.Pairs(ev) // and never ended, as after a panic
		p.Add([]byte("a"), []byte("1"))
		p.Add([]byte("a"), []byte("2"))
		p.Add(bytes.Repeat([]byte("k"), maxPairKeyLength+1), nil)
		checkPairs(t, w, ev, [][]byte{[]byte("a"), []byte("x"), []byte("b"), []byte("y")})
	}
}

func TestADocumentThatIsWrittenIsOneOfTheEvents(t *testing.T) {
	w, ev := pairsWorkers(t)[0], new(Events)
	write := func(text string) func([]byte) []byte {
		return func(dst []byte) []byte { return append(dst, text...) }
	}
	if err := w.DecodeWritten(ev, write(`{"a":`)); err == nil || ev.Len() != 0 || len(ev.arena) != 0 {
		t.Errorf("a document that is none: %v, %d events", err, ev.Len())
	}
	for _, doc := range []string{`{"a":"x"}`, `{"b":["y",{"a":1}]}`} {
		if err := w.DecodeWritten(ev, write(doc)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.DecodeWritten(ev, write(`1 2`)); err == nil || ev.Len() != 2 {
		t.Errorf("two values: %v, %d events", err, ev.Len())
	}
	for i, want := range []string{`{"a":"x"}`, `{"b":["y",{"a":1}]}`} {
		if got := string(ev.AppendJSON(nil, i)); got != want || ev.Kind(i) != event.JSON {
			t.Errorf("event %d: %s, want %s", i, got, want)
		}
	}
}

// BenchmarkPairs is an event of ten pairs: of keys that are known, that change from one
// event to the next, and that no event had before.
func BenchmarkPairs(b *testing.B) {
	value := []byte("a value of usual length")
	keys := make([][]byte, 4*maxPairKeys)
	for i := range keys {
		keys[i] = fmt.Append(nil, "field", i)
	}
	for _, tc := range []struct {
		name string
		keys int
	}{{"of known keys", 10}, {"of changing keys", 500}, {"of new keys", len(keys)}} {
		b.Run(tc.name, func(b *testing.B) {
			w, ev, i := pairsWorkers(b)[2], new(Events), 0
			b.ReportAllocs()
			for b.Loop() {
				ev.Reset()
				p := w.Pairs(ev)
				for range 10 {
					p.Add(keys[i%tc.keys], value)
					i++
				}
				p.End()
			}
		})
	}
}
