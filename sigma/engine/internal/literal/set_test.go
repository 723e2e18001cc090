package literal

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// naive is what a Set must agree with.
func naive(literals []Literal, has func(text, s string) bool, text string) []uint32 {
	var out []uint32
	for _, l := range literals {
		if has(text, l.Text) {
			out = append(out, l.ID)
		}
	}
	return out
}

// none asks for no short literals and none of medium length.
const none = -1

func equal(text, s string) bool { return text == s }

// sample makes literals and texts of few characters, so that they often meet.
// Some of them differ by one bit.
func sample(r *rand.Rand, longest int, high bool) string {
	alphabet := []string{"a", "b", "\\", "|", ".", " "}
	if high {
		alphabet = append(alphabet, "é", "\u2013", "\x00")
	}
	var b strings.Builder
	for range r.IntN(longest + 1) {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	// Some have much in common, so that many share a key.
	switch common := "a|b|a.b. "; r.IntN(6) {
	case 0:
		return common + b.String()
	case 1:
		return b.String() + common
	case 2:
		return common + b.String() + common + common
	}
	return b.String()
}

func TestSetFindsWhatComparingOneByOneFinds(t *testing.T) {
	flat := func(uint32) int { return 0 }
	for _, shorts := range []int{0, 3, 60, none} {
		least := minNarrow
		if shorts == none {
			least = minWide
		}
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, uint64(shorts+1)))
			b := NewBuilder(flat)
			var exact, prefix, suffix, inside []Literal
			for id := range uint32(240) {
				s := sample(r, 12, id%3 == 0)
				switch id % 4 {
				case 0:
					exact = append(exact, Literal{s, id})
					b.AddExact(s, id)
				case 1:
					prefix = append(prefix, Literal{s, id})
					b.AddPrefix(s, id)
				case 2:
					suffix = append(suffix, Literal{s, id})
					b.AddSuffix(s, id)
				case 3:
					if CanContain(s) && (len(s) >= least || !isASCII(s)) {
						inside = append(inside, Literal{s, id})
						b.AddContains(s, id)
					}
				}
			}
			for id := range uint32(max(shorts, 0)) {
				if s := sample(r, 4, false); len(s) >= MinShort {
					inside = append(inside, Literal{s, 300 + id})
					b.AddContains(s, 300+id)
				}
			}
			set := b.Build()
			for range 60 {
				text := sample(r, 40, r.IntN(2) == 0)
				want := slices.Concat(naive(exact, equal, text), naive(prefix, strings.HasPrefix, text),
					naive(suffix, strings.HasSuffix, text), naive(inside, strings.Contains, text))
				shouted := shout(r, text)
				got := set.Find(nil, []byte(shouted), !isASCII(text))
				slices.Sort(want)
				slices.Sort(got)
				if got = slices.Compact(got); !slices.Equal(got, want) {
					t.Fatalf("seed %d, %d short literals, text %q: got %v, want %v", seed, shorts, shouted, got, want)
				}
			}
		}
	}
}

// shout changes the case of some letters.
func shout(r *rand.Rand, text string) string {
	return strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' && r.IntN(3) == 0 {
			c -= 'a' - 'A'
		}
		return c
	}, text)
}

func BenchmarkFind(b *testing.B) {
	build := NewBuilder(func(uint32) int { return 0 })
	for i, s := range []string{"mimikatz", "invoke-expression", "\\temp\\", "sekurlsa::", "dir", "copy"} {
		build.AddContains(s, uint32(i))
	}
	set := build.Build()
	text := []byte(strings.Repeat("c:\\windows\\system32\\svchost.exe -k netsvcs ", 20))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var ids []uint32
	for b.Loop() {
		ids = set.Find(ids[:0], text, false)
	}
}
