package match

import (
	"bytes"
	"testing"
)

func TestTheSameRecordHasTheSameBytes(t *testing.T) {
	s := spec()
	s.Seal()
	x := NewExtractor(s)
	used := bytes.Repeat([]byte{0xff}, 4096)
	event := fields{0: `"a"`, 2: `"none"`, 3: `"x"`} // its second feed counts nothing
	want := x.Append(nil, []int{1, 2}, 7, event)
	if got := x.Append(used[:0], []int{1, 2}, 7, event); !bytes.Equal(got, want) {
		t.Errorf("in memory that was used before:\n%x\nwant\n%x", got, want)
	}
}

func TestSpecsAreToldApart(t *testing.T) {
	sealed := func(change func(s *Spec)) uint32 {
		s := spec()
		change(s)
		s.Seal()
		return s.Mark
	}
	same := sealed(func(*Spec) {})
	if got := sealed(func(s *Spec) { s.Mark = 5 }); got != same {
		t.Errorf("equal specs have the marks %d and %d", same, got)
	}
	for _, tc := range []struct {
		name   string
		change func(s *Spec)
	}{
		{"a field of another name", func(s *Spec) { s.Fields[0] = "who" }},
		{"fields cut elsewhere", func(s *Spec) { s.Fields[0], s.Fields[1] = "user host", "" }},
		{"a key of other parts", func(s *Spec) { s.Keys[0] = []int{1} }},
		{"a contribution of another kind", func(s *Spec) { s.Feeds[0].Kind = Number }},
		{"a rule with other feeds", func(s *Spec) { s.Rules[1].To = 2 }},
		{"other names of events", func(s *Spec) { s.IDs = s.IDs[:1] }},
		{"a field read from elsewhere", func(s *Spec) { s.Paths = [][]string{{"a.b"}} }},
	} {
		if got := sealed(tc.change); got == same {
			t.Errorf("%s: the mark is the same", tc.name)
		}
	}
}
