package condition

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"and binds tighter than or, not tightest", "a or not b and c", "a or not b and c"},
		{"parentheses group", "(a or b) and c", "(a or b) and c"},
		{"needless parentheses go", "((a)) and (b and c)", "a and (b and c)"},
		{"any of is one of", "any of s_*", "1 of s_*"},
		{"all of them", "all of them", "all of them"},
		{"a number counts", "2 of them", "2 of them"},
		{"a target may be a plain name", "1 of sel", "1 of sel"},
		{"several stars", "1 of s_*_x*", "1 of s_*_x*"},
		{"keywords end at other characters", "and_filter and not_x or 1of", "and_filter and not_x or 1of"},
		{"a number alone is a name", "4624 and not 1", "4624 and not 1"},
		{"white space of every kind", "\ta\r\nand\n b ", "a and b"},
		{"no blanks around parentheses", "not(a)and(b)", "not a and b"},
		{"not repeats", "not not a", "not not a"},
		{"names with a dash in front", "-a and --", "-a and --"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, err := Parse(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := e.Text(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"an operator in front", "and a", "unexpected \"and\""},
		{"an operator at the end", "a and", "unexpected end"},
		{"empty parentheses", "()", "unexpected \")\""},
		{"nothing", "", "unexpected end"},
		{"blanks alone", " \n ", "unexpected end, expected a detection, 'not', '(' or a quantifier (line 2, column 2)"},
		{"upper-case operators", "a AND b", "unexpected \"AND\", expected 'and', 'or' or the end (line 1, column 3)"},
		{"zero of", "0 of them", "'0 of' would always hold"},
		{"zero of with more digits", "00 of them", "'0 of' would always hold"},
		{"the old aggregation", "a | count() > 5", "unexpected \"|\""},
		{"an open parenthesis", "(a and b", "unexpected end, expected ')'"},
		{"a closing one too many", "a)", "unexpected \")\""},
		{"a pattern without a quantifier", "sel_*", "needs a quantifier"},
		{"a quantifier without of", "all them", "unexpected \"them\", expected 'of'"},
		{"a quantifier without a target", "1 of", "unexpected end"},
		{"a quantifier over a keyword", "1 of and", "unexpected \"and\""},
		{"a quantifier over parentheses", "1 of (a)", "unexpected \"(\""},
		{"them alone", "them", "unexpected \"them\""},
		{"a number beyond reason", "99999999999999999999 of them", "too large"},
		{"other characters", "a and b\n and \u00e9", "unexpected character \"\u00e9\" (line 2, column 6)"},
		{"a comma", "a, b", "unexpected \",\""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse(tc.text)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), "invalid condition: ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an invalid condition with %q", err, tc.want)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	nested := func(open, close string, n int) string {
		return strings.Repeat(open, n) + "a" + strings.Repeat(close, n)
	}
	for _, tc := range []struct {
		name, text string
		ok         bool
	}{
		{"64 parentheses", nested("(", ")", 64), true},
		{"65 parentheses", nested("(", ")", 65), false},
		{"64 times not", nested("not ", "", 64), true},
		{"65 times not", nested("not ", "", 65), false},
		{"both count together", "not " + nested("(", ")", 64), false},
		{"groups side by side do not add up", strings.TrimSuffix(strings.Repeat("(a) and ", 100), " and "), true},
		{"65,536 bytes", "a" + strings.Repeat(" ", MaxBytes-1), true},
		{"65,537 bytes", "a" + strings.Repeat(" ", MaxBytes), false},
		{"an endless chain of not", strings.Repeat("not ", 16000) + "a", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Parse(tc.text); (err == nil) != tc.ok {
				t.Errorf("got %v, want success %t", err, tc.ok)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	for _, tc := range []struct {
		target, name string
		want         bool
	}{
		{"them", "a", true},
		{"them", "_c", false},
		{"_*", "_c", true},
		{"*", "_c", true},
		{"*", "__cond", false},
		{"s_*_x", "s_1_x", true},
		{"s_*_x", "s_1", false},
		{"pre*suf", "presuf", true},
		{"pre*resuf", "presuf", false},
		{"a*b*c", "axbxc", true},
		{"a*b*c", "ac", false},
		{"A*", "ab", false},
		{"**", "", true},
	} {
		if got := Covers(tc.target, tc.name); got != tc.want {
			t.Errorf("%s covers %s: got %t, want %t", tc.target, tc.name, got, tc.want)
		}
	}
}

func TestIdentsInOrderOfAppearance(t *testing.T) {
	e, err := Parse("b and (a or not b) and 1 of x_* and c")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := e.Idents(), []string{"b", "a", "c"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever parses can be written, stored and read back unchanged.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a and not (b or 1 of c_*)", "all of them", "((((", "0 of x", "not not", "a\nor b", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(e.Text())
		if err != nil || !reflect.DeepEqual(e, again) {
			t.Errorf("%q was written as %q: %v", text, e.Text(), err)
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back Expr
		if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(e, &back) {
			t.Errorf("%q came back from JSON %s different: %v", text, b, err)
		}
		if !reflect.DeepEqual(e, e.Clone()) {
			t.Errorf("the clone of %q differs", text)
		}
	})
}
