package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/load"
)

// document is a rule with regexes of one field, or of what a key says.
func document(key string, sources ...string) string {
	return "title: T\nsigma-version: 3\ndetection:\n  sel:\n    " + key + ":\n      - '" + strings.Join(sources, "'\n      - '") + "'\n  condition: sel\n"
}

// pace returns how many steps the loader thinks that regexes may take for each byte of
// an event: it tells when there are too many.
func pace(tb testing.TB, sources ...string) (steps uint64) {
	tb.Helper()
	told := func(sources ...string) (n uint64) {
		c := load.FromBytes("r.yml", []byte(document("A|re", sources...)), load.Options{})
		for _, p := range c.Problems() {
			if _, rest, found := strings.Cut(p.Reason, "may take "); found {
				fmt.Sscan(rest, &n)
				return n
			}
		}
		tb.Fatalf("%q: no cost is told: %v", sources, c.Problems())
		return 0
	}
	const dear = `(?:a[ab]{999})*c`
	return told(append(slices.Clone(sources), dear)...) - told(dear) + 1
}

// allowance is what building the automaton of one regex may take before texts pay.
const allowance = 1 << 18

// hostileText is a text that the regexes below go far with.
func hostileText(r *rand.Rand, size int) string {
	unit := []string{"a", "ab", "aab", "b"}[r.IntN(4)]
	text := []byte(strings.Repeat(unit, size/len(unit)+1)[:size])
	if r.IntN(2) == 0 {
		for i := range text {
			text[i] = "ab"[r.IntN(2)]
		}
	}
	if r.IntN(3) > 0 {
		return "é" + string(text)
	}
	return string(text)
}

// hostileTexts writes texts of any length into an event.
func hostileTexts(r *rand.Rand, size int) string {
	length := []int{1, 2, 5, 20, 63, 64, 130, 1000, size}[r.IntN(9)]
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, `,"%s"`, hostileText(r, length))
	}
	return "[" + b.String()[1:] + "]"
}

func hostileRegex(r *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"a", "b", "[ab]", "é?", ".", "a?", "(a|é)", "[ab]{0,90}", ".*", "a+", "[^x]{30}", "(?:a|bb)", "ab[ab]"}[r.IntN(13)]
	}
	sub := func() string { return hostileRegex(r, depth-1-r.IntN(depth)) }
	switch r.IntN(7) {
	case 0:
		return "(?:" + sub() + sub() + ")*"
	case 1:
		return fmt.Sprintf("(?:%s){%d}", sub(), r.IntN(12))
	case 2:
		return fmt.Sprintf("(?:%s){0,%d}", sub(), 1+r.IntN(12))
	case 3:
		return "(?:" + sub() + "|" + sub() + "|" + sub() + ")"
	case 4:
		return "(?:" + sub() + "|" + sub() + ")+"
	}
	return sub() + sub() + sub()
}

// What the loader says of regexes holds for every event: it is the budget of a document.
func TestRegexesTakeNoMoreThanTheirDocumentIsTold(t *testing.T) {
	n := sigmatest.Rounds(300)
	if testing.Short() {
		n = 60
	}
	r := rand.New(rand.NewPCG(4, 5))
	near := 0.0
	for range n {
		source := []string{"", "^", "x?"}[r.IntN(3)] + hostileRegex(r, 1+r.IntN(4)) + []string{"c", "$", `\bc`, "[c-z]"}[r.IntN(4)]
		c := load.FromBytes("r.yml", []byte(document("A|re", source)), load.Options{})
		if len(c.Rejected) > 0 {
			continue
		}
		perByte := pace(t, source)
		set := setOf(t, document("A|re", source), Options{})
		for range 3 {
			line := `{"A":` + hostileTexts(r, 1000+r.IntN(20_000)) + `}`
			got := spent(t, set, []byte(line)).steps
			size := uint64(len(line))
			if limit := allowance + (perByte+perByte/2+4)*size; got > limit {
				t.Errorf("%s: %d steps for %d bytes, want at most %d of %d for each\n%.100s", source, got, size, limit, perByte, line)
			}
			near = max(near, (float64(got)-allowance)/float64(perByte*size))
		}
	}
	t.Logf("at most %.2f of what was told", near)
}

func TestRegexesOfADocumentCostNoMoreThanItsBudget(t *testing.T) {
	shape := func(n int, format string) (sources []string) {
		for i := range n {
			sources = append(sources, fmt.Sprintf(format, i*900/n, 900-i*900/n))
		}
		return sources
	}
	size := sigmatest.Rounds(40_000)
	r := rand.New(rand.NewPCG(1, 1))
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab"[r.IntN(2)]
		}
		return string(b)
	}
	short := func(n int) string {
		var b strings.Builder
		for b.Len() < size {
			fmt.Fprintf(&b, `,"é%s"`, random(n))
		}
		return "[" + b.String()[1:] + "]"
	}
	for _, doc := range []struct {
		name    string
		sources []string
		perByte uint64
	}{
		{"a choice before and behind", shape(20, `(a|b){%d}a(a|b){%d}c`), 600},
		{"more of them", shape(40, `(a|b){%d}b[ab]{%d}c`), 1200},
		{"what may be left out", []string{`(?:a?[ab]){90}c`}, 300},
		{"loops", []string{`^é?(?:a|[ab]x|b[ab]x|ab|ba)*c`, `(?:(?:a|bb){9}c|a|b)*d`}, 500},
	} {
		told := pace(t, doc.sources...)
		for _, key := range []string{"A|re", "'|re'", "'A[any]|re'", "'A[none].x|re'"} {
			set := setOf(t, document(key, doc.sources...), Options{})
			for _, value := range []struct{ name, json string }{
				{"one value", `"` + random(size) + `"`},
				{"one value beyond ASCII", `"é` + random(size) + `"`},
				{"values of 2", short(1)},
				{"values of 10", short(9)},
				{"values of 65", short(64)},
			} {
				line := `{"A":` + value.json + `}`
				if strings.Contains(key, ".x") {
					line = `{"A":{"x":` + value.json + `}}`
				}
				got, bytes := spent(t, set, []byte(line)).steps, uint64(len(line))
				if limit := uint64(len(doc.sources))*allowance + doc.perByte*bytes; got > limit {
					t.Errorf("%s of %s, %s: %d steps for %d bytes, want at most %d", doc.name, key, value.name, got, bytes, limit)
				}
				t.Logf("%s of %s, %s: %d steps for each byte, told %d", doc.name, key, value.name, got/bytes, told)
			}
		}
	}
}
