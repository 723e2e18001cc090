package scan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/event"
)

// fields are the names the tests ask for; their numbers begin at 1.
var fields = []string{"a", "a.b", "c.d.e", "x.y", "x", "é", "q\"uote", ""}

func newTestScanner() *Scanner {
	t := NewTable()
	t.Keywords = true
	for i, name := range fields {
		id := uint32(i + 1)
		p := event.ParsePath(name, 0)
		t.AddName(id, name, 0, len(p.Segments) > 1, false)
		if len(p.Segments) > 1 {
			t.AddPath(id, p.Segments, 1, false)
		}
	}
	return NewScanner(t)
}

// depthOf is how deep the containers of valid JSON go.
func depthOf(line []byte) int {
	deepest, depth := 0, 0
	d := json.NewDecoder(bytes.NewReader(line))
	for {
		tok, err := d.Token()
		if err != nil {
			return deepest
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
			deepest = max(deepest, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

// values lists what the cells say a field resolves to.
func values(cells []Cell, line []byte, field uint32) []string {
	var out []string
	for i := range cells {
		if c := &cells[i]; c.Field == field && c.Flags&Terminal != 0 {
			out = append(out, string(line[c.Start:c.End]))
		}
	}
	return out
}

var lines = []string{
	`{"a":1,"a.b":2,"c":{"d":[{"e":"x"},{"e":[1,"y",null]}]},"x":{"y":{}}}`, `{"a":{"b":null},"a":{"b":true}}`,
	`{"a.b":[],"a":{"b":1}}`, `[{"a":1},{"a.b":2,"a":{"b":3}},7,[{"a":4}]]`, `7`, `"text"`, `null`, `true`, ` { } `, `[]`,
	`{"a":1}x`, `{"a":1}{}`, `{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":1e}`, `{"a":-0.5E+3}`, `{"a":"\u00e9\ud83d\ude00\ud800"}`,
	`{"a":"\x"}`, `{"a":"` + "\t" + `"}`, `{"a":"` + "\xff" + `"}`, `{"\u0061":1}`, `{"é":1,"\u00e9":2}`, `{"q\"uote":1}`, `{"":{"":1}}`,
	`{"a" : 1 , "x":{"y":[[1],[2,{"z":3}]]}}`, `{"a":1,}`, `{,}`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{a:1}`, `"unclosed`, `{"a":tru}`, ``,
	`{"x":[{"y":1},[{"y":2}],3,{"y":{"y":4}}]}`, `{"c":{"d":{"e":1}},"c":{"d":{"e":2},"d":{"e":3}}}`,
}

func TestScannerAcceptsExactlyJSONOfBoundedDepth(t *testing.T) {
	for _, tc := range []struct {
		name string
		line string
		want bool
	}{
		{"128 arrays", strings.Repeat("[", 128) + strings.Repeat("]", 128), true},
		{"129 arrays", strings.Repeat("[", 129) + strings.Repeat("]", 129), false},
		{"128 objects", strings.Repeat(`{"a":`, 128) + "1" + strings.Repeat("}", 128), true},
		{"129 objects", strings.Repeat(`{"a":`, 129) + "1" + strings.Repeat("}", 129), false},
	} {
		_, _, err := newTestScanner().Scan(nil, []byte(tc.line))
		if got := err == nil; got != tc.want {
			t.Errorf("%s: accepted %t, want %t", tc.name, got, tc.want)
		}
	}
}

func TestScannerFindsWhatWalkingFinds(t *testing.T) {
	s := newTestScanner()
	for range 2 { // the second time from memory
		for _, line := range lines {
			checkLine(t, s, []byte(line))
		}
	}
}

func FuzzScannerFindsWhatWalkingFinds(f *testing.F) {
	for _, line := range lines {
		f.Add([]byte(line))
	}
	s := newTestScanner()
	f.Fuzz(func(t *testing.T, line []byte) { checkLine(t, s, line) })
}

func checkLine(t *testing.T, s *Scanner, line []byte) {
	t.Helper()
	cells, root, err := s.Scan(nil, line)
	want := json.Valid(line) && depthOf(line) <= MaxDepth
	if (err == nil) != want {
		t.Fatalf("%q: error %v, want valid %t", line, err, want)
	}
	if err != nil {
		return
	}
	for i, name := range fields {
		p := event.ParsePath(name, 0)
		var want []string
		for _, h := range p.Resolve(nil, root, false) {
			want = append(want, string(h.Raw))
		}
		if got := values(cells, line, uint32(i+1)); !slices.Equal(got, want) {
			t.Fatalf("%q: field %q is %q, want %q", line, name, got, want)
		}
	}
	var found, wanted []string
	root.Strings(1, KeywordDepth+1, func(v event.Value) { wanted = append(wanted, string(v.Raw)) })
	for i := range cells {
		if c := &cells[i]; c.Flags&Keyword != 0 {
			found = append(found, string(line[c.Start:c.End]))
		}
	}
	if !slices.Equal(found, wanted) {
		t.Fatalf("%q: strings %q, want %q", line, found, wanted)
	}
}

func TestMemoryOfKeysIsBounded(t *testing.T) {
	s := newTestScanner()
	for i := range 3 * maxKeys {
		if _, _, err := s.Scan(nil, fmt.Appendf(nil, `{"key%d":1,"a":{"b":2}}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(s.keys.keys); got > maxKeys {
		t.Errorf("%d keys are remembered, want at most %d", got, maxKeys)
	}
	line := []byte(`{"a":{"b":5}}`)
	cells, _, _ := s.Scan(nil, line)
	if got := values(cells, line, 2); !slices.Equal(got, []string{"5"}) {
		t.Errorf("a.b is %q, want [5]", got)
	}
}

func TestAFloodOfKeysDoesNotKeepOthersFromBeingRemembered(t *testing.T) {
	s := newTestScanner()
	scan := func(line []byte) {
		if _, _, err := s.Scan(nil, line); err != nil {
			t.Fatal(err)
		}
	}
	var flood []byte
	for i := range 3 * maxKeys {
		flood = fmt.Appendf(flood, `,"key%d":1`, i)
	}
	scan([]byte("{" + string(flood[1:]) + "}"))
	scan([]byte(`{"a":{"b":5},"later":1}`))
	for _, name := range []string{`"a"`, `"later"`} {
		if s.keys.keys[memoryKey{root, name}] == nil {
			t.Errorf("%s is not remembered behind %d others", name, 3*maxKeys)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	line := []byte(`{"a":"C:\\Windows\\System32\\svchost.exe","x":{"y":"nt authority\\system"},"other":12345,"more":"some longer text without escapes"}`)
	s := newTestScanner()
	var cells []Cell
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		cells, _, _ = s.Scan(cells[:0], line)
	}
}
