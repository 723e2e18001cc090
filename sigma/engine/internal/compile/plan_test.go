package compile

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/load"
)

func TestRequiredTexts(t *testing.T) {
	for _, tc := range []struct {
		source string
		want   []string
	}{
		{`foo\s+bar`, []string{"foo"}},
		{`(?i)Mimi(katz|dogz)`, []string{"mimikatz", "mimidogz"}},
		{`(?i)ask`, []string{"ask"}},
		{`a+bcdef?g`, []string{"bcdefg", "bcdeg"}},
		{`x*`, nil},
		{`.*`, nil},
		{`(alpha|b)`, nil},
		{`(alpha|beta)\d`, []string{"alpha", "beta"}},
		{`^\\Windows\\`, []string{`\windows\`}},
		{`[ab]cde`, []string{"acde", "bcde"}},
	} {
		re, err := syntax.Parse(tc.source, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		got := texts{best: required(re.Simplify()).candidates()}.best
		slices.Sort(got)
		slices.Sort(tc.want)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s requires %q, want %q", tc.source, got, tc.want)
		}
	}
}

func FuzzWhatMatchesHasARequiredText(f *testing.F) {
	for _, s := range []string{`foo\s+bar`, `(?i)k(a|b)cde`, `a{2,3}bcd|xyz`, `[s-u]abc`, `(?i)straße+`, `(abc)?def`} {
		f.Add(s, "some FOO bar text: Kacde, \u212Aacde, aabcd, tabc, STRASSE def")
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		re, err := regexp.Compile(source)
		if err != nil || len(source) > 100 {
			t.Skip()
		}
		text = strings.ToValidUTF8(text, "\uFFFD")
		for _, m := range []string{text, re.FindString(text)} {
			if !re.MatchString(m) {
				continue
			}
			parsed, err := syntax.Parse(source, syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			need := required(parsed.Simplify()).candidates()
			folded := event.Fold(m)
			if need != nil && !slices.ContainsFunc(need, func(s string) bool { return strings.Contains(folded, s) }) {
				t.Errorf("%q matches %q without any of %q", source, m, need)
			}
		}
	})
}

func TestPatternsMatch(t *testing.T) {
	for _, tc := range []struct {
		pattern string
		op      Kind
		text    string
		want    bool
	}{
		{"a*c", Exact, "abbc", true},
		{"a*c", Exact, "abbcd", false},
		{"a*c", Prefix, "abbcd", true},
		{"a*c", Suffix, "xabbc", true},
		{"a*c", Suffix, "abbcx", false},
		{"a*b*c", Contains, "xxaxbxcxx", true},
		{"pre*suf", Exact, "presuf", true},
		{"abc*bcd", Exact, "abcd", false},
		{"a?c", Exact, "a\u00e9c", true},
		{"a?c", Exact, "ac", false},
		{"?", Exact, "\n", true},
		{"*", Exact, "", true},
		{"a*?", Suffix, "a", false},
		{"*a", Prefix, "xxa", true},
	} {
		p := newPattern(ast.ParseParts(tc.pattern), tc.op, true)
		if got := p.Match([]byte(tc.text)); got != tc.want {
			t.Errorf("%q (kind %d) on %q: got %t, want %t", tc.pattern, tc.op, tc.text, got, tc.want)
		}
	}
}

func TestDashesAreSpelledInOrder(t *testing.T) {
	if got, want := slices.Collect(spellings("a-b")), []string{"a-b", "a/b", "a\u2013b", "a\u2014b", "a\u2015b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := ast.DashPositions("x/y /z -"); !slices.Equal(got, []int{4, 7}) {
		t.Errorf("dashes at %v, want [4 7]", got)
	}
}

func TestBase64Offsets(t *testing.T) {
	if got, want := encode([]byte("Test"), true), []string{"VGVzd", "Rlc3", "UZXN0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// witnessesOf names the witnesses of the only rule of a document.
func witnessesOf(t *testing.T, text string) []string {
	t.Helper()
	c := load.FromBytes("r.yml", []byte(text), load.Options{})
	if len(c.Rules) != 1 {
		t.Fatalf("%d rules loaded: %v", len(c.Rules), c.Rejected)
	}
	p, err := Build(c.Rules, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for id := range p.Preds {
		if p.CandidateStart[id] < p.CandidateStart[id+1] {
			out = append(out, p.Fields.List[p.Preds[id].Field].Name+" "+p.Preds[id].Text)
		}
	}
	if len(p.Always) > 0 {
		out = append(out, "always")
	}
	slices.Sort(out)
	return out
}

func TestWitnesses(t *testing.T) {
	for _, tc := range []struct {
		name      string
		detection string
		want      []string
	}{
		{"the rarer half of a conjunction", `{sel: {EventID: 1, Image|endswith: '\verystrange.exe'}, condition: sel}`, []string{`Image \verystrange.exe`}},
		{"all of a disjunction", `{a: {A: xx1}, b: {B: yy2}, condition: a or b}`, []string{"A xx1", "B yy2"}},
		{"nothing of what is negated", `{sel: {A: x}, condition: not sel}`, []string{"always"}},
		{"a double negation", `{sel: {A: null}, condition: not sel}`, []string{"A "}},
		{"neq needs the field", `{sel: {A|neq: x}, condition: sel}`, []string{"A "}},
		{"a null test needs nothing", `{sel: {A: [null, x]}, condition: sel}`, []string{"always"}},
		{"a vacuous quantifier", `{sel: {A: x}, condition: all of zz_*}`, []string{"always"}},
		{
			"two of three leave the commonest out", `{s_1: {A: aaaaaaaaaaaaaa}, s_2: {B: bbbbbbbbbbbbbb}, s_3: {EventID: 1}, condition: 2 of s_*}`,
			[]string{"A aaaaaaaaaaaaaa", "B bbbbbbbbbbbbbb"},
		},
		{"a cased literal waits for its folded form", `{sel: {A|contains|cased: FooBar}, condition: sel}`, []string{"A foobar"}},
		{"a wildcard waits for its longest piece", `{sel: {A: '*ab*longest*cd*'}, condition: sel}`, []string{"A longest"}},
	} {
		got := witnessesOf(t, "title: T\ndetection: "+tc.detection)
		slices.Sort(tc.want)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}
