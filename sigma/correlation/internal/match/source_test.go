package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/load"
)

// sourceFields are read in every way there is: as members, below members, through
// lists, and as members whose names have dots.
var sourceFields = []string{"a", "b", "a.b", "a.b.c", "b.c", "c", "a.a", `d\u00e9`, "é", "a[0]", ""}

// randomValue is a JSON value over the names of sourceFields.
func randomValue(r *rand.Rand, depth int) string {
	scalars := []string{`1`, `-2.50`, `1e3`, `true`, `null`, `"x"`, `"é\n\u00e9"`, `""`, `"12"`, `123456789012345678901234567890`}
	kind := r.IntN(8)
	switch {
	case depth == 0 || kind < 3:
		return scalars[r.IntN(len(scalars))]
	case kind < 5:
		var list []string
		for range r.IntN(3) {
			list = append(list, randomValue(r, depth-1))
		}
		return "[" + strings.Join(list, " , ") + "]"
	}
	keys := []string{`"a"`, `"b"`, `"c"`, `"a.b"`, `"a.b.c"`, `"b.c"`, `"\u0061"`, `"é"`, `"\u00e9"`, `"a[0]"`, `""`}
	var members []string
	for range r.IntN(4) {
		members = append(members, keys[r.IntN(len(keys))]+": "+randomValue(r, depth-1))
	}
	return "{" + strings.Join(members, " ,") + "}"
}

// The cells of a worker and the text of the event tell the same.
func TestAnEventOfAWorkerReadsAsItsText(t *testing.T) {
	rules := load.FromBytes("r", []byte("title: r\ndetection: {s: {a.b: 1, c|contains: x}, condition: s}\n"), load.Options{}).Rules
	spec := &Spec{Fields: sourceFields}
	for _, told := range []bool{true, false} {
		var o engine.Options
		if told {
			o.Fields = sourceFields
		}
		set, err := engine.Compile(rules, o)
		if err != nil {
			t.Fatal(err)
		}
		w, source, doc := set.NewWorker(), NewEvent(spec, set), NewDocument(spec)
		r := rand.New(rand.NewPCG(3, 4))
		var ev engine.Events
		for range 20_000 {
			line := []byte(randomValue(r, 4))
			if r.IntN(3) == 0 {
				ev.Reset()
			}
			if err := w.DecodeJSON(&ev, line); err != nil {
				t.Fatal(err)
			}
			source.Open(w, &ev, ev.Len()-1)
			doc.Set(line)
			for field, name := range sourceFields {
				got, gotOK := source.Value(field)
				want, wantOK := doc.Value(field)
				text, of, textOK := source.Text(field)
				if plain, _ := got.AppendText(nil); textOK != gotOK || gotOK && (of != got.Type || string(text) != string(plain)) {
					t.Fatalf("%q in %s: got the text %q of type %d, want %q of %d (told: %t)", name, line, text, of, plain, got.Type, told)
				}
				if shown(got, gotOK) != shown(want, wantOK) {
					t.Fatalf("%q in %s: got %s, want %s (told: %t)", name, line, shown(got, gotOK), shown(want, wantOK), told)
				}
			}
		}
	}
}

// shown is what extraction sees of a value.
func shown(v event.Value, ok bool) string {
	if !ok || v.Type == event.Array || v.Type == event.Object {
		return fmt.Sprint(ok)
	}
	text, _ := v.AppendText(nil)
	n, numeric, _ := v.Numeric(nil)
	return fmt.Sprintf("%d %s %v %t", v.Type, text, n.Float, numeric)
}

func TestPlainTextHasNoFields(t *testing.T) {
	set, err := engine.Compile(nil, engine.Options{Fields: []string{"_raw"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []*Spec{{Fields: []string{"_raw"}}, {Fields: []string{"other"}}} {
		w, source := set.NewWorker(), NewEvent(spec, set)
		var ev engine.Events
		w.DecodePlain(&ev, []byte("other"))
		source.Open(w, &ev, 0)
		if v, ok := source.Value(0); ok {
			t.Errorf("%q has the value %s", spec.Fields[0], v.Raw)
		}
		if got := string(source.AppendJSON(nil)); got != `{"_raw":"other"}` {
			t.Errorf("got %s", got)
		}
	}
}
