package literal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Numbers of literals around every border that the tables of a set have, or that
// their fields could have.
var borders = []int{1, 16, 17, 512, 513, math.MaxInt16, math.MaxInt16 + 2, math.MaxUint16 + 2}

func TestNoNumberOfLiteralsHidesOne(t *testing.T) {
	digits := func(base, width int) func(n int) string {
		return func(n int) string {
			s := make([]byte, width)
			for i := range s {
				s[i] = "0123456789abcdefghijklmnopqrstuvwxyz-._"[n%base]
				n /= base
			}
			return string(s)
		}
	}
	inside := func(b *Builder, s string, id uint32) { b.AddContains(s, id) }
	prefix := func(b *Builder, s string, id uint32) { b.AddPrefix(s, id) }
	suffix := func(b *Builder, s string, id uint32) { b.AddSuffix(s, id) }
	exact := func(b *Builder, s string, id uint32) { b.AddExact(s, id) }
	four := digits(39, 4)
	for _, tc := range []struct {
		name string
		text func(n int) string
		add  func(b *Builder, s string, id uint32)
		most int
	}{
		{"of three bytes", digits(39, 3), inside, 39 * 39 * 39},
		{"of four bytes", four, inside, math.MaxInt},
		{"of six bytes", func(n int) string { return "\\" + four(n) + "." }, inside, math.MaxInt},
		{"of seven bytes", func(n int) string { return "ab\\" + four(n) }, inside, math.MaxInt},
		{"of thirty bytes", func(n int) string { return "c:\\windows\\" + four(n) + "\\system32\\.exe" }, inside, math.MaxInt},
		{"with one character outside ASCII", func(n int) string { return "\u2013" + four(n) }, inside, math.MaxInt},
		{"with such a character at the end", func(n int) string { return four(n) + "é" }, inside, math.MaxInt},
		{"that begin with the same bytes", func(n int) string { return "c:\\windows\\system32\\" + four(n) }, prefix, math.MaxInt},
		{"that differ at the front", func(n int) string { return four(n) + "c:\\windows\\system32\\" }, prefix, math.MaxInt},
		{"that end with the same bytes", func(n int) string { return four(n) + ".a-long-name.example.com" }, suffix, math.MaxInt},
		{"that differ at the end", func(n int) string { return ".a-long-name.example.com" + four(n) }, suffix, math.MaxInt},
		{"that are the same but between", func(n int) string { return "c:\\windows\\" + four(n) + "\\some\\more\\directories\\x.exe" }, exact, math.MaxInt},
		{"that are the same but at the end", func(n int) string { return "c:\\windows\\" + four(n) }, exact, math.MaxInt},
	} {
		for _, n := range borders {
			if n > tc.most {
				n = tc.most
			}
			t.Run(fmt.Sprintf("%d %s", n, tc.name), func(t *testing.T) {
				b := NewBuilder(func(uint32) int { return 0 })
				for i := range n {
					tc.add(b, tc.text(i), uint32(i))
				}
				set := b.Build()
				r := rand.New(rand.NewPCG(uint64(n), 7))
				for range 50 {
					i := r.IntN(n)
					text := shout(r, tc.text(i))
					if got := set.Find(nil, []byte(text), true); !slices.Contains(got, uint32(i)) {
						t.Fatalf("literal %d, %q, is not found in %q", i, tc.text(i), text)
					}
					if other := "x" + strings.Repeat("~", 40); len(set.Find(nil, []byte(other), true)) != 0 {
						t.Fatalf("something is found in %q", other)
					}
				}
			})
		}
	}
}

// What a table holds under one key is compared with a text one by one, so it must
// stay a few whatever the literals have in common.
func TestLiteralsWithMuchInCommonShareNoSlot(t *testing.T) {
	const n = 10_000
	common := "a-very-long-name-that-all-of-them-have-in-common.example.com"
	for _, tc := range []struct {
		name string
		text func(n int) string
	}{
		{"a common end", func(n int) string { return fmt.Sprint(n, ".", common) }},
		{"a common beginning", func(n int) string { return fmt.Sprint(common, ".", n) }},
		{"common ends on both sides", func(n int) string { return fmt.Sprintf("%s%06d%s", common, n, common) }},
		{"a common character", func(n int) string { return fmt.Sprint("–", n) }},
		{"a common end behind a common character", func(n int) string { return fmt.Sprint(n, "–", common) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var list []Literal
			for i := range n {
				list = append(list, Literal{tc.text(i), uint32(i)})
			}
			exact := newExactTable(list)
			for what, most := range map[string]int{
				"prefixes": crowdOf(list, false), "suffixes": crowdOf(list, true),
				"whole texts": max(longest(&exact.table), longest(&exact.crowded)),
			} {
				if most > crowd {
					t.Errorf("%s: %d literals stand under one key, want at most %d", what, most, crowd)
				}
			}
			x := newHighIndex(list)
			for _, e := range x.entries {
				if !e.filed || max(deepest(&e.after), deepest(&e.before)) > crowd {
					t.Errorf("a character has %d literals under one key, want at most %d", max(deepest(&e.after), deepest(&e.before)), crowd)
				}
			}
		})
	}
}

func crowdOf(list []Literal, last bool) int {
	t := newAffixTable(list, last)
	return deepest(&t)
}

func longest(t *table) int {
	most := 0
	for _, s := range t.slots {
		most = max(most, int(s.end-s.start))
	}
	return most
}

func deepest(t *affixTable) int {
	most := max(longest(&t.table), len(t.empty))
	for _, d := range t.deeper {
		most = max(most, deepest(d))
	}
	return most
}
