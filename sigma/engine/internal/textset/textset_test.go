package textset

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

var wheres = []Where{{true, true}, {true, false}, {false, true}, {false, false}}

// combinations are the texts that a row stands for.
func combinations(row []*Set) [][]byte {
	out := [][]byte{nil}
	for _, s := range row {
		var longer [][]byte
		for _, a := range out {
			for _, b := range s.Texts() {
				longer = append(longer, append(bytes.Clone(a), b...))
			}
		}
		out = longer
	}
	return out
}

func naive(text []byte, row []*Set, at Where) bool {
	var f Finder
	for _, t := range combinations(row) {
		if f.compare(text, t, at) {
			return true
		}
	}
	return false
}

func setOf(texts ...string) *Set {
	s := new(Set)
	for _, t := range texts {
		s.texts = append(s.texts, []byte(t))
	}
	return s
}

func TestRowsMatchWhatTheirCombinationsMatch(t *testing.T) {
	many := []string{"a", "ab", "b", "bab", "abab", "ba", "aab", "x"}
	rows := map[string][]*Set{
		"one text":                 {setOf("ab")},
		"an empty text":            {setOf("")},
		"many texts":               {setOf(many...)},
		"many texts, one is empty": {setOf(append(many, "")...)},
		"two sets":                 {setOf(many...), setOf(many...)},
		"a text between sets":      {setOf("a", "", "b"), setOf("x"), setOf(many...)},
		"three sets":               {setOf(many...), setOf("a", "b", ""), setOf(many...)},
		"an empty set":             {setOf(many...), setOf()},
		"five sets":                {setOf("a", ""), setOf("b", ""), setOf("a", "b"), setOf("", "ab"), setOf("x", "")},
	}
	var texts []string
	for n := range 3 * 3 * 3 * 3 * 3 * 3 {
		text := ""
		for ; n > 0; n /= 3 {
			text += "abx"[n%3 : n%3+1]
		}
		texts = append(texts, text)
	}
	texts = append(texts, "", "aaaaaa", "aabab", "ababababababab")
	for name, row := range rows {
		for _, at := range wheres {
			var f Finder
			for _, text := range texts {
				if got, want := f.Match([]byte(text), row, at), naive([]byte(text), row, at); got != want {
					t.Fatalf("%s, %+v: %q matches %t, want %t", name, at, text, got, want)
				}
			}
		}
	}
}

// FuzzRowsMatchWhatTheirCombinationsMatch reads sets from a text: lines are sets,
// blanks separate texts.
func FuzzRowsMatchWhatTheirCombinationsMatch(f *testing.F) {
	f.Add("aab", "a b c d e\na ab b")
	f.Add("aaaaaaa", "a aa aaa aaaa aaaaa\na\naa a aaa aaaa a")
	f.Fuzz(func(t *testing.T, text, sets string) {
		var row []*Set
		for line := range strings.SplitSeq(sets, "\n") {
			if row = append(row, setOf(strings.Split(line, " ")...)); len(row) == 5 {
				break
			}
		}
		n := 1
		for _, s := range row {
			n *= len(s.texts)
		}
		if n > 2000 {
			t.Skip()
		}
		var finder Finder
		for _, at := range wheres {
			if got, want := finder.Match([]byte(text), row, at), naive([]byte(text), row, at); got != want {
				t.Fatalf("%+v: %q in %q matches %t, want %t", at, text, sets, got, want)
			}
		}
	})
}

// numbered are n texts of one length, which share their beginning and their end.
func numbered(n int, kind string) *Set {
	s := new(Set)
	for i := range n {
		s.texts = append(s.texts, fmt.Appendf(nil, "prefix-%s%08d-suffix", kind, i))
	}
	return s
}

// runs are texts of one letter, of every length.
func runs(n int) *Set {
	s := new(Set)
	for i := range n {
		s.texts = append(s.texts, bytes.Repeat([]byte("a"), i+1))
	}
	return s
}

func (s *Set) size() (bytes int) {
	for _, t := range s.texts {
		bytes += len(t)
	}
	return bytes
}

func TestStepsGrowWithTheSizeOfBothSides(t *testing.T) {
	const n = 20_000
	for _, tc := range []struct {
		name  string
		texts *Set
		row   []*Set
	}{
		{"unlike texts", numbered(n, "x"), []*Set{numbered(n, "y")}},
		{"texts of one letter", runs(700), []*Set{runs(700), setOf("b")}},
		{"one long text", setOf(strings.Repeat("a", 300_000)), []*Set{runs(700), setOf("b")}},
		{"one long text against one set", setOf(strings.Repeat("a", 300_000) + "b"), []*Set{setOf("c", "d", "e", "f", strings.Repeat("a", 100_000)+"c")}},
		{"two sets", numbered(n, "x"), []*Set{numbered(n, "x"), numbered(n, "y")}},
		{"two sets and a text between them", numbered(n, "x"), []*Set{numbered(n, "x"), setOf("-"), numbered(n, "y")}},
	} {
		size := tc.texts.size()
		for _, s := range tc.row {
			size += s.size()
		}
		for _, at := range wheres {
			var f Finder
			for _, s := range tc.row {
				s.tree, s.exact = nil, nil
			}
			for _, text := range tc.texts.texts {
				f.Match(text, tc.row, at)
			}
			if limit := uint64(40 * size); f.Steps > limit {
				t.Errorf("%s, %+v: %d steps for %d bytes, want at most %d", tc.name, at, f.Steps, size, limit)
			}
		}
	}
}
