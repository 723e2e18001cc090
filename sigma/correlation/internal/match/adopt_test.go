package match

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
)

// elsewhere returns a record as a process with other hashes writes it.
func elsewhere(tb testing.TB, s *Spec, record []byte) []byte {
	tb.Helper()
	out := bytes.Clone(record)
	for i := range int(binary.LittleEndian.Uint32(out[countAt:])) {
		update := out[headSize+i*updateSize:]
		if k := s.Feeds[binary.LittleEndian.Uint32(update[feedAt:])].Kind; k == Text || k == Tuple {
			binary.LittleEndian.PutUint32(update[markAt:], 0xdeadbeef)
		}
		binary.LittleEndian.PutUint64(out[binary.LittleEndian.Uint32(update[keyAt:]):], 0xdeadbeefdeadbeef)
	}
	return out
}

// travelled are records with everything a record may have.
func travelled(s *Spec) [][]byte {
	x := NewExtractor(s)
	return [][]byte{
		x.Append(nil, []int{1}, 7, fields{0: `"ann"`, 1: `7`, 2: `1.5`}),
		x.Append(nil, []int{2}, 1<<40, fields{3: `"x"`, 4: `null`, 5: `"id"`}),
		x.Append(nil, []int{1, 2}, 0, fields{0: `"a"`, 2: `-3`, 3: `"` + string(bytes.Repeat([]byte("long"), 100)) + `"`, 4: `5`, 6: `9`}),
		x.Append(nil, []int{2}, 3, fields{}),
	}
}

func TestARecordOfAnotherProcessIsAdopted(t *testing.T) {
	s := spec()
	s.Seal()
	for i, record := range travelled(s) {
		buf := append(elsewhere(t, s, record), "after"...)
		if updates := binary.LittleEndian.Uint32(record[countAt:]); updates > 0 && bytes.Equal(buf[:len(record)], record) {
			t.Fatalf("record %d has %d updates and no hash", i, updates)
		}
		rest, err := Adopt(s, buf)
		if err != nil || string(rest) != "after" || !bytes.Equal(buf[:len(record)], record) {
			t.Errorf("record %d: %v, rest %q, bytes\n%x\nwant those written here\n%x", i, err, rest, buf[:len(record)], record)
		}
	}
}

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

func TestWhatIsNoRecordIsNotAdopted(t *testing.T) {
	s := spec()
	s.Seal()
	record := travelled(s)[2]
	put := func(at int, v uint32) func(b []byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], v); return b }
	}
	for _, tc := range []struct {
		name   string
		damage func(b []byte) []byte
	}{
		{"nothing", func([]byte) []byte { return nil }},
		{"half a head", func(b []byte) []byte { return b[:headSize-1] }},
		{"half a record", func(b []byte) []byte { return b[:len(b)/2] }},
		{"a record for others", put(specAt, s.Mark+1)},
		{"a size below the head", put(sizeAt, headSize-1)},
		{"a size beyond the end", put(sizeAt, 1<<31)},
		{"more updates than there is room for", put(countAt, 1<<30)},
		{"a rest beyond the end", put(restAt, 1<<31)},
		{"a rest inside the updates", put(restAt, headSize+1)},
		{"unknown flags", put(flagsAt, 1<<7)},
		{"a time before all times", put(timeAt+4, 1<<31)},
		{"a feed there is not", put(headSize+feedAt, 99)},
		{"a key in the head", put(headSize+keyAt, 0)},
		{"a key beyond the rest", put(headSize+keyAt, 1<<30)},
		{"a key that is too short for its parts", func(b []byte) []byte {
			return put(int(binary.LittleEndian.Uint32(b[headSize+keyAt:]))+8, 0)(b)
		}},
		{"a number that is none", func(b []byte) []byte {
			for i := range int(binary.LittleEndian.Uint32(b[countAt:])) {
				if u := b[headSize+i*updateSize:]; s.Feeds[binary.LittleEndian.Uint32(u[feedAt:])].Kind == Number {
					binary.LittleEndian.PutUint64(u[valueAt:], 0x7ff8000000000001)
				}
			}
			return b
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Adopt(s, tc.damage(bytes.Clone(record))); !errors.Is(err, ErrForeign) {
				t.Errorf("got %v, want ErrForeign", err)
			}
		})
	}
}

func FuzzAdopt(f *testing.F) {
	s := spec()
	s.Mark = 1 // known, so that inputs stay good
	for _, record := range travelled(s) {
		f.Add(elsewhere(f, s, record))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		buf := bytes.Clone(raw)
		rest, err := Adopt(s, buf)
		if err != nil {
			return
		}
		var r Record
		behind, err := r.Open(s, buf)
		if err != nil || !bytes.Equal(behind, rest) {
			t.Fatalf("an adopted record does not open: %v", err)
		}
		if got := show(&r); slices.ContainsFunc(got, func(s string) bool { return strings.HasSuffix(s, "another hash") }) {
			t.Errorf("hashes are not this process's: %q", got)
		}
		for i := range s.Fields {
			r.Field(i)
		}
		var v window.Contribution
		for i := range r.Len() {
			if feed, _, key := r.Update(i, &v); !ValidKey(string(key), len(s.Keys[feed.Key])) {
				t.Errorf("update %d has the key %x", i, key)
			}
		}
	})
}
