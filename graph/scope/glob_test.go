package scope

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestGlob(t *testing.T) {
	for _, tc := range []struct {
		pattern   string
		yes, nope []string
	}{
		{"*", []string{"", "a", "a/b\nc"}, nil},
		{"a*c", []string{"ac", "a/b/c", "abcc"}, []string{"ab", "xac", "acx", "AC"}},
		{"a?c", []string{"abc", "a/c", "aéc", "a漢c", "a\nc"}, []string{"ac", "abbc"}},
		{"[abc]x", []string{"ax", "cx"}, []string{"dx", "x", "abx"}},
		{"[a-cx-z]", []string{"b", "y"}, []string{"d", "-", ""}},
		{"[!a-c]", []string{"d", "\n", "é"}, []string{"a", ""}},
		{"[]a]", []string{"]", "a"}, []string{"[]a]"}},
		{"[!]a]", []string{"b"}, []string{"]", "a"}},
		{"[a-]", []string{"a", "-"}, []string{"b"}},
		{"[-a]", []string{"a", "-"}, []string{"b"}},
		{`[\]\-z]`, []string{"]", "-", "z"}, []string{"a", `\`}},
		{"[^a]", []string{"^", "a"}, []string{"b"}},
		{"[[:x]", []string{"[", ":", "x"}, []string{"y"}},
		{"*{cat,dog}", []string{"cat", "a dog"}, []string{"*{cat,dog}", "cow"}},
		{"?{a,b?,}", []string{"xa", "xby", "x"}, []string{"xb", "xc"}},
		{"*{a{b,c},d}?", []string{"abx", "acy", "dz"}, []string{"a", "ax"}},
		{"{[,],x}*", []string{",", "xy"}, []string{"]"}},
		{"a,b*", []string{"a,b", "a,bc"}, []string{"a", "b"}},
		{`\*\?\[\]\{\}\\\a*`, []string{`*?[]{}\ab`}, []string{`\*`, "x"}},
		{"(a|b).+$^*", []string{"(a|b).+$^", "(a|b).+$^x"}, []string{"a", "b1"}},
		{"]*", []string{"]", "]x"}, []string{"x"}},
		{"a*a*a*a*a*a*a*a*a*a*b", nil, []string{strings.Repeat("a", 10000)}},
	} {
		g, err := CompileGlob(tc.pattern)
		if err != nil {
			t.Errorf("%s: %v", tc.pattern, err)
			continue
		}
		if g.String() != tc.pattern {
			t.Errorf("%s is shown as %s", tc.pattern, g)
		}
		for _, text := range tc.yes {
			if !g.Match(text) {
				t.Errorf("%s does not match %q", tc.pattern, text)
			}
		}
		for _, text := range tc.nope {
			if g.Match(text) {
				t.Errorf("%s matches %.40q", tc.pattern, text)
			}
		}
	}
}

func TestGlobsThatCannotBeRead(t *testing.T) {
	for pattern, want := range map[string]string{
		"[bad":                       `[ is not closed (the character itself is \[)`,
		"[":                          `[ is not closed (the character itself is \[)`,
		"[]":                         `[ is not closed (the character itself is \[)`,
		"[!]":                        `[ is not closed (the character itself is \[)`,
		`[a\`:                        `[ is not closed (the character itself is \[)`,
		`[a-\`:                       `[ is not closed (the character itself is \[)`,
		"[z-a]":                      "the range z-a is empty",
		"*{a,b":                      `{ is not closed (the character itself is \{)`,
		"*a}":                        `} has no { (the character itself is \})`,
		`*\`:                         "nothing is behind the last backslash",
		"*\xff":                      "it is not UTF-8",
		strings.Repeat("{", 5) + "*": `{ is not closed (the character itself is \{)`,
	} {
		_, err := CompileGlob(pattern)
		if want = "glob '" + pattern + "' cannot be read: " + want; err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", pattern, err, want)
		}
	}
	if _, err := CompileGlob(strings.Repeat("{a,b", 5000) + "*" + strings.Repeat("}", 5000)); err == nil {
		t.Error("a pattern of 5,000 groups in one another was accepted")
	}
}

// plainly matches by trying everything. Class and group say how far they reach.
func plainly(p, s []rune) bool {
	if len(p) == 0 {
		return len(s) == 0
	}
	switch p[0] {
	case '*':
		for n := 0; n <= len(s); n++ {
			if plainly(p[1:], s[n:]) {
				return true
			}
		}
		return false
	case '?':
		return len(s) > 0 && plainly(p[1:], s[1:])
	case '[':
		n := classLength(p)
		return len(s) > 0 && inClass(p[1:n-1], s[0]) && plainly(p[n:], s[1:])
	case '{':
		n, commas := groupLength(p)
		for i := 0; i+1 < len(commas); i++ {
			one := append(append([]rune(nil), p[commas[i]+1:commas[i+1]]...), p[n:]...)
			if plainly(one, s) {
				return true
			}
		}
		return false
	case '\\':
		p = p[1:]
	}
	return len(s) > 0 && s[0] == p[0] && plainly(p[1:], s[1:])
}

// classLength is the length of the class that p begins with.
func classLength(p []rune) int {
	i := 1
	if p[i] == '!' {
		i++
	}
	for first := true; first || p[i] != ']'; first = false {
		if p[i] == '\\' {
			i++
		}
		i++
	}
	return i + 1
}

func inClass(members []rune, r rune) bool {
	in := true
	if members[0] == '!' {
		members, in = members[1:], false
	}
	next := func() rune {
		if members[0] == '\\' {
			members = members[1:]
		}
		m := members[0]
		members = members[1:]
		return m
	}
	for len(members) > 0 {
		low := next()
		high := low
		if len(members) > 1 && members[0] == '-' {
			members = members[1:]
			high = next()
		}
		if low <= r && r <= high {
			return in
		}
	}
	return !in
}

// groupLength is the length of the group that p begins with, and where its brace, its
// commas and its last brace stand.
func groupLength(p []rune) (int, []int) {
	marks, depth := []int{0}, 0
	for i := 0; ; i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			i += classLength(p[i:]) - 1
		case '{':
			depth++
		case ',':
			if depth == 1 {
				marks = append(marks, i)
			}
		case '}':
			if depth--; depth == 0 {
				return i + 1, append(marks, i)
			}
		}
	}
}

// A glob says what trying everything says.
func FuzzGlobsMatchAsTryingEverythingDoes(f *testing.F) {
	for _, pattern := range []string{"*a?", "[a-c]*[!x]", "{a,b{c,?}}*", `\*[\]]`, "a,b}", "[]-a]", "x{[,],}y"} {
		f.Add(pattern, "abcx")
		f.Add(pattern, "x,y")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		g, err := CompileGlob(pattern)
		if err != nil || !utf8.ValidString(text) || len(pattern) > 24 || len(text) > 12 || strings.Count(pattern, "{") > 3 || strings.Count(pattern, "*") > 3 {
			t.Skip()
		}
		if got, want := g.Match(text), plainly([]rune(pattern), []rune(text)); got != want {
			t.Errorf("%q with %q: got %v, trying everything says %v", pattern, text, got, want)
		}
	})
}
