package match

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
	"github.com/sluicehq/sluice/sigma/event"
)

// fields is an event given by field number.
type fields map[int]string

func (f fields) Value(field int) (event.Value, bool) {
	raw, ok := f[field]
	if !ok {
		return event.Value{}, false
	}
	return event.ValueOf([]byte(raw)), true
}

func (f fields) Text(field int) ([]byte, event.Type, bool) {
	v, ok := f.Value(field)
	text, _ := v.AppendText(nil)
	return text, v.Type, ok
}

func (f fields) AppendJSON(dst []byte) []byte { return append(dst, `{"whole":"event"}`...) }

func spec() *Spec {
	return &Spec{
		Fields: []string{"user", "host", "n", "v", "w", "id", "_id"},
		Keys:   [][]int{{0}, {0, 1}, {}},
		Feeds: []Feed{
			{Correlation: 0, Key: 0},
			{Correlation: 2, Key: 1, Kind: Number, Values: []int{2}},
			{Correlation: 4, Key: 0},
			{Correlation: 1, Key: 2, Kind: Text, Values: []int{3}},
			{Correlation: 3, Key: 2, Kind: Tuple, Values: []int{3, 4}},
		},
		Rules: []Rule{{}, {From: 0, To: 3}, {From: 3, To: 5, Chain: []int{1, 2, 3}, WantID: true, Copy: true}},
		IDs:   []int{5, 6},
	}
}

// show writes a record so that it can be compared.
func show(r *Record) []string {
	var out []string
	for i := range r.Len() {
		var u window.Contribution
		feed, hash, raw := r.Update(i, &u)
		if hash != Hash(raw) {
			out = append(out, "another hash")
		}
		var key []string
		for part, ok := range Parts(string(raw)) {
			if !ok {
				part = "-"
			}
			key = append(key, part)
		}
		s := fmt.Sprintf("%d %v", feed.Correlation, key)
		switch feed.Kind {
		case Text, Tuple:
			s += fmt.Sprintf(" %q", u.Text)
			if u.Mark != window.Hash(u.Text) {
				s += " of another hash"
			}
		case Number:
			s += fmt.Sprintf(" %v", u.Number)
		}
		out = append(out, s)
	}
	return out
}

func TestRecords(t *testing.T) {
	for _, tc := range []struct {
		name  string
		rules []int
		event fields
		want  []string
	}{
		{"texts, numbers and booleans are parts", []int{1}, fields{0: `"ann"`, 1: `7.0`, 2: `1.5`}, []string{`0 [ann]`, `2 [ann 7] 1.5`, `4 [ann]`}},
		{"null, lists, objects and absence are missing", []int{1}, fields{0: `null`, 1: `{}`, 2: `"-2e3"`}, []string{`0 [-]`, `2 [- -] -2000`, `4 [-]`}},
		{"what is no number contributes nothing", []int{1}, fields{0: `""`, 2: `"0x10"`}, []string{`0 []`, `4 []`}},
		{"numbers beyond floats contribute nothing", []int{1}, fields{0: `true`, 2: `1e999`}, []string{`0 [true]`, `4 [true]`}},
		{"texts that spell infinity contribute nothing", []int{1}, fields{0: `"a"`, 2: `"inf"`}, []string{`0 [a]`, `4 [a]`}},
		{"null counts as a value", []int{2}, fields{3: `null`, 4: `5`}, []string{`1 [] "null"`, `3 [] "\x05null\x025"`}},
		{"a tuple needs all of its parts", []int{2}, fields{3: `"x"`, 4: `[1]`}, []string{`1 [] "x"`}},
		{"an empty text is one", []int{2}, fields{3: `""`}, []string{`1 [] ""`}},
		{"matches come in the order of rules", []int{0, 1, 2}, fields{0: `"a"`, 3: `"x"`}, []string{`0 [a]`, `4 [a]`, `1 [] "x"`}},
		{"long parts have long lengths", []int{1}, fields{0: `"` + strings.Repeat("l", 300) + `"`}, []string{`0 [` + strings.Repeat("l", 300) + `]`, `4 [` + strings.Repeat("l", 300) + `]`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := spec()
			buf := NewExtractor(s).Append([]byte("before"), tc.rules, 1234, tc.event)
			var r Record
			rest, err := r.Open(s, append(buf[len("before"):], "after"...))
			if err != nil || string(rest) != "after" {
				t.Fatalf("open: %v, rest %q", err, rest)
			}
			if r.Time != 1234 {
				t.Errorf("got time %d, want 1234", r.Time)
			}
			if got := show(&r); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAnEventNoCorrelationCanUseHasNoRecord(t *testing.T) {
	if got := NewExtractor(spec()).Append(nil, []int{0, 17}, 1, fields{0: `"a"`}); len(got) != 0 {
		t.Errorf("got %d bytes, want none", len(got))
	}
}

func TestAMatchWithoutContributionStillHasARecord(t *testing.T) {
	var r Record
	if _, err := r.Open(spec(), NewExtractor(spec()).Append(nil, []int{2}, 5, fields{})); err != nil || r.Len() != 0 || r.Time != 5 {
		t.Errorf("got %v, %d updates at %d, want an empty record at 5", err, r.Len(), r.Time)
	}
}

func TestReferences(t *testing.T) {
	for _, tc := range []struct {
		name  string
		event fields
		want  string
		has   bool
	}{
		{"the first present field is the reference", fields{5: `"a"`, 6: `"b"`}, "a", true},
		{"a number as text", fields{6: `17`}, "17", true},
		{"an object hides the fields behind it", fields{5: `{}`, 6: `"b"`}, "", false},
		{"null does so, too", fields{5: `null`, 6: `"b"`}, "", false},
		{"no field, no reference", fields{}, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r Record
			if _, err := r.Open(spec(), NewExtractor(spec()).Append(nil, []int{2}, 1, tc.event)); err != nil {
				t.Fatal(err)
			}
			if string(r.ID) != tc.want || r.HasID != tc.has {
				t.Errorf("got %q, %v, want %q, %v", r.ID, r.HasID, tc.want, tc.has)
			}
		})
	}
}

func TestCopiesInflateToTheEvent(t *testing.T) {
	x := NewExtractor(spec())
	for range 2 { // the writer is used again
		var r Record
		if _, err := r.Open(spec(), x.Append(nil, []int{2}, 1, fields{})); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(flate.NewReader(bytes.NewReader(r.Copy)))
		if err != nil || string(got) != `{"whole":"event"}` {
			t.Errorf("got %s, %v", got, err)
		}
	}
}

func TestChainFieldsAreKept(t *testing.T) {
	var r Record
	if _, err := r.Open(spec(), NewExtractor(spec()).Append(nil, []int{2}, 1, fields{1: `null`, 2: `"12"`, 3: `[]`})); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		field int
		want  Field
		ok    bool
	}{
		{1, Field{Null: true, Text: []byte{}}, true},
		{2, Field{Number: true, Text: []byte("12")}, true},
		{3, Field{}, false},
	} {
		if got, ok := r.Field(tc.field); ok != tc.ok || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("field %d: got %+v, %v, want %+v, %v", tc.field, got, ok, tc.want, tc.ok)
		}
	}
}

func TestARecordForAnotherSpecIsForeign(t *testing.T) {
	record := NewExtractor(spec()).Append(nil, []int{1}, 7, fields{0: `"a"`})
	other := spec()
	other.Mark++
	for _, raw := range [][]byte{nil, record[:headSize-1], record} {
		if _, err := new(Record).Open(other, raw); !errors.Is(err, ErrForeign) {
			t.Errorf("%d bytes: got %v, want ErrForeign", len(raw), err)
		}
	}
}

func FuzzKey(f *testing.F) {
	f.Add("a", "", "long", true)
	f.Fuzz(func(t *testing.T, a, b, c string, missing bool) {
		a, b, c = a[:min(len(a), maxText)], b[:min(len(b), maxText)], c[:min(len(c), maxText)]
		key := AppendPart(AppendPart(nil, a), b)
		if missing {
			key = AppendMissing(key)
		}
		key = AppendPart(key, c)
		want := []string{a, b, c}
		if missing {
			want = []string{a, b, "-", c}
		}
		var got []string
		for part, ok := range Parts(string(key)) {
			if !ok {
				part = "-"
			}
			got = append(got, part)
		}
		if !slices.Equal(got, want) || !ValidKey(string(key), len(want)) || ValidKey(string(key), len(want)+1) {
			t.Fatalf("got %q, want %q", got, want)
		}
		if part, ok := Part(string(key), 1); part != string(AppendPart(nil, b)) || !ok {
			t.Fatalf("part 1: got %q, %v, want that of %q", part, ok, b)
		}
		if Hash(key) != HashString(string(key)) {
			t.Fatal("bytes and text hash differently")
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	x := NewExtractor(spec())
	e := fields{0: `"ann"`, 1: `"server-17"`, 2: `1.5`}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = x.Append(buf[:0], []int{1}, 1_700_000_000, e)
	}
}

func TestDocument(t *testing.T) {
	d := NewDocument(&Spec{Fields: []string{"a.b", "c", "list.x", "gone"}})
	d.Set([]byte(`{"a":{"b":1},"c":2,"c":3,"list":[{"x":1},{"x":2}]}`))
	for field, want := range []string{"1", "[]", "[]", ""} {
		v, ok := d.Value(field)
		if string(v.Raw) != want || ok != (want != "") {
			t.Errorf("field %d: got %s, %v, want %s", field, v.Raw, ok, want)
		}
	}
	d.Set([]byte(`{"a.b":"flat","a":{"b":1}}`))
	if v, _ := d.Value(0); string(v.Raw) != `"flat"` {
		t.Errorf("got %s, want the flat key", v.Raw)
	}
}

func TestDocumentWithPlaces(t *testing.T) {
	const field = "Event.EventData.User"
	d := NewDocument(&Spec{Fields: []string{field, "plain"}, Paths: [][]string{{field, "Event.UserData.*.User"}, nil}})
	for _, tc := range []struct{ name, event, want string }{
		{"the first path", `{"Event":{"EventData":{"User":"a"},"UserData":{"X":{"User":"b"}}}}`, `"a"`},
		{"the second path under any key", `{"Event":{"UserData":{"X":{"User":"b"}}}}`, `"b"`},
		{"several keys are an array", `{"Event":{"UserData":{"X":{"User":"b"},"Y":{"User":"c"}}}}`, `[]`},
		{"an object stands for its text", `{"Event":{"EventData":{"User":{"#attributes":{},"#text":"a"}}}}`, `"a"`},
		{"an object without text is passed over", `{"Event":{"EventData":{"User":{}},"UserData":{"X":{"User":"b"}}}}`, `"b"`},
		{"nowhere", `{"plain":1}`, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d.Set([]byte(tc.event))
			if v, ok := d.Value(0); string(v.Raw) != tc.want || ok != (tc.want != "") {
				t.Errorf("got %s, %v, want %s", v.Raw, ok, tc.want)
			}
		})
	}
	d.Set([]byte(`{"plain":1}`))
	if v, _ := d.Value(1); string(v.Raw) != "1" {
		t.Errorf("a field without paths: got %s, want 1", v.Raw)
	}
}

func TestNumbersReadFastAreThoseReadInFull(t *testing.T) {
	for _, raw := range []string{"0", "7", "4096", "007", "-1", "+1", "1.5", "1e3", "999999999999999", "9999999999999999", "123456789012345678901234567890"} {
		x := NewExtractor(spec())
		got, ok := x.numeric(2, fields{2: raw})
		n, wantOK := event.ParseNumeric([]byte(raw))
		if got != n.Float || ok != wantOK {
			t.Errorf("%s: got %v, %t, want %v, %t", raw, got, ok, n.Float, wantOK)
		}
	}
}
