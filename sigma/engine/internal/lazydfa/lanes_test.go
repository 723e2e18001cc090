package lazydfa

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

func lanesOf(tb testing.TB, source string) *parts {
	tb.Helper()
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		tb.Fatal(err)
	}
	return newParts(re)
}

// shapes make expressions of expressions.
var shapes = []string{
	"%s%s", "%s%s", "%s|%s", "(%s)%s", "(?:%s)*%s", "(?:%s)+%s", "(?:%s)?%s", "(?:%s){2}%s", "(?:%s){0,3}%s", "(?:%s){2,}%s", "(?:%s){1,70}%s", "(?:%s|%s)*",
	`^%s|%s`, `%s$|%s`, `(?m:^%s$)%s`, `\b%s\B%s`, `(?i:%s)%s`, "(?:(?:%s)*b)*%s", "(?:%s){0}%s", "(?:%s){63,66}%s",
}

func randomExpression(r *rand.Rand, depth int) string {
	if depth == 0 {
		leaves := []string{"a", "b", "ab", "[ab]", ".", `\w`, "é", "[^a]", "", "[é-ü]", "k", `\n`, "b*", "a+", "[ab]{3}", ".{0,66}", `\d`, "(?s).", `\p{Greek}`, "[^\\x00-\\x{10ffff}]", `\b`, "$", "a{64}", "a{2,5}"}
		return leaves[r.IntN(len(leaves))]
	}
	out := shapes[r.IntN(len(shapes))]
	for strings.Contains(out, "%s") {
		out = strings.Replace(out, "%s", randomExpression(r, depth-1-r.IntN(depth)), 1)
	}
	return out
}

func randomText(r *rand.Rand) string {
	units := []string{"a", "b", "ab", "é", "\n", "K", "\xff", "x", "α", "_", " ", "0", strings.Repeat("a", 60), strings.Repeat("ba", 33), "\xe2\x84\xaa"}
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(units[r.IntN(len(units))])
	}
	return b.String()
}

func TestLanesAgreeWithTheStandardLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := 20_000
	if testing.Short() {
		n = 2000
	}
	l := new(lanes)
	for range n {
		source := randomExpression(r, 1+r.IntN(3))
		want, err := regexp.Compile(source)
		if err != nil {
			continue // repeated too often
		}
		p := lanesOf(t, source)
		for range 5 {
			text := randomText(r)
			if got := l.match(p, []byte(text)); got != want.MatchString(text) {
				t.Fatalf("%q on %q: got %t, want %t", source, text, got, want.MatchString(text))
			}
		}
	}
}

func FuzzLanesAgreeWithTheStandardLibrary(f *testing.F) {
	for _, e := range expressions {
		f.Add(e, strings.Repeat("some text foo7\n", 9))
	}
	f.Add(`(?i)[^k\x{100}-\x{200}]{63}\b|(?:a*b|c+)*$`, strings.Repeat("aab\u212ac", 30))
	f.Fuzz(func(t *testing.T, source, text string) {
		want, err := regexp.Compile(source)
		if err != nil || len(source) > 100 || len(text) > 1000 {
			t.Skip()
		}
		if got := new(lanes).match(lanesOf(t, source), []byte(text)); got != want.MatchString(text) {
			t.Errorf("%q on %q: got %t, want %t", source, text, got, want.MatchString(text))
		}
	})
}
