package textset

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
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
	sparse := setOf("ab", strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("ab", 33), strings.Repeat("b", 130), strings.Repeat("ab", 97))
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
		"sets of empty texts":      {setOf("", ""), setOf(many...), setOf("", "")},
		"one set thrice":           {sparse, sparse, sparse},
		"long texts and short":     {sparse, setOf("a", "", "b"), sparse},
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
	for _, n := range []int{1, 63, 64, 65, 127, 128, 129, 193, 194, 195, 260} {
		for _, unit := range []string{"a", "ab", "b", "aab"} {
			texts = append(texts, strings.Repeat(unit, n), strings.Repeat(unit, n)+"x", strings.Repeat(unit, n)+strings.Repeat("a", 64))
		}
	}
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
	f.Add(strings.Repeat("ab", 100), "ab "+strings.Repeat("ab", 32)+" "+strings.Repeat("ab", 33)+"\nab  a b\n"+strings.Repeat("ba", 40)+" b")
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

// cut are the beginnings of a text: n of them, every step bytes, of all rotations of it.
func cut(text string, rotations, n, step int) *Set {
	s := new(Set)
	for r := range rotations {
		for i := range n {
			s.texts = append(s.texts, []byte(text[r:][:(i+1)*step]))
		}
	}
	return s
}

// fibonacci are the words of Fibonacci, whose parts repeat as much as those of any text
// without a period.
func fibonacci(n int) *Set {
	s := setOf("b", "a")
	for range n {
		s.texts = append(s.texts, append(bytes.Clone(s.texts[len(s.texts)-1]), s.texts[len(s.texts)-2]...))
	}
	return s
}

// Neighbours that have many texts each: what one may end with, the next may begin with.
func TestStepsOfNeighboursGrowWithTheSizeOfBothSides(t *testing.T) {
	sigmatest.Plainly(t)
	const size = 135_000
	a, ab := strings.Repeat("a", size), strings.Repeat("ab", size/2)
	word := func(n int) string { return string(fibonacci(n).texts[n+1]) }
	random := func(n, letters int) string {
		b, x := make([]byte, n), uint32(1)
		for i := range b {
			x = x*1664525 + 1013904223
			b[i] = 'a' + byte(x>>24)%byte(letters)
		}
		return string(b)
	}
	period := func(n int) string { return strings.Repeat(random(n, 2), size/n+2) }
	runs64 := strings.Repeat(strings.Repeat("a", 5000)+"b", size/5001)
	for _, tc := range []struct {
		name, text string
		set        *Set
	}{
		{"runs of one letter", a, runs(350)},
		{"every other length of one letter", a, cut(a, 1, 500, 2)},
		{"lengths of one letter that no word of bits shares", a, cut(a, 1, 90, 64)},
		{"lengths of one letter in runs that end", runs64, cut(a, 1, 90, 64)},
		{"a period of two", ab, cut(ab, 2, 350, 1)},
		{"a period of two, and long steps", ab, cut(ab, 2, 60, 64)},
		{"a period of seven", period(7), cut(period(7), 7, 250, 1)},
		{"a period of 64", period(64), cut(period(64), 64, 90, 1)},
		{"a period of 64, and long steps", period(64), cut(period(64), 64, 11, 64)},
		{"a period of 93", period(93), cut(period(93), 93, 93, 1)},
		{"a period of 590", period(590), cut(period(590), 59, 40, 15)},
		{"words of Fibonacci", word(21), fibonacci(20)},
		{"parts of words of Fibonacci", word(21), cut(word(21), 80, 80, 1)},
		{"a text without a period", random(size, 2), cut(random(size, 2), 80, 80, 1)},
		{"equal texts", a, &Set{texts: bytes.Split(bytes.Repeat([]byte("aaaaaaaaa "), 6_500), []byte(" "))}},
		{"empty texts", a, &Set{texts: append(make([][]byte, 100_000), runs(350).texts...)}},
		{"texts in blocks", ab, setOf(strings.Fields(strings.Repeat("a b ab ba aba bab ", 1000))...)},
	} {
		for neighbours := 2; neighbours <= 4; neighbours += 2 {
			row := make([]*Set, neighbours)
			for i := range row {
				row[i] = tc.set
			}
			row = append(row, setOf("c", "d"))
			for _, at := range wheres[:2] { // where the first is found anywhere, nearly all positions go on
				var f Finder
				tc.set.tree, tc.set.exact = nil, nil
				f.Match([]byte(tc.text), row, at)
				each := f.Steps / uint64(len(row)*(len(tc.text)+tc.set.size()))
				if limit := uint64(16); each > limit {
					t.Errorf("%s, %d neighbours, %+v: %d steps for each set and byte of %d, want at most %d", tc.name, neighbours, at, each, len(tc.text)+tc.set.size(), limit)
				}
			}
		}
	}
}

func (s *Set) size() (bytes int) {
	for _, t := range s.texts {
		bytes += len(t)
	}
	return bytes
}

func TestStepsGrowWithTheSizeOfBothSides(t *testing.T) {
	sigmatest.Plainly(t)
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
