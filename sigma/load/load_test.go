package load

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

// item is a rule file with one detection.
func item(sel string) string {
	return "title: T\ndetection:\n  sel: " + sel + "\n  condition: sel\n"
}

func reasons(c *Collection) []string {
	var out []string
	for _, p := range c.Problems() {
		out = append(out, p.Reason)
	}
	return out
}

// wantReasons compares the reasons of all problems in order, each by a part of it.
func wantReasons(t *testing.T, c *Collection, want ...string) {
	t.Helper()
	got := reasons(c)
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && strings.Contains(got[i], want[i])
	}
	if !ok {
		t.Errorf("problems\n got %q\nwant %q", got, want)
	}
}

func wantWarnings(t *testing.T, c *Collection, want ...string) {
	t.Helper()
	var got []string
	for _, w := range c.Warnings {
		got = append(got, w.Reason)
	}
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && strings.Contains(got[i], want[i])
	}
	if !ok {
		t.Errorf("warnings\n got %q\nwant %q", got, want)
	}
}

func titles(c *Collection) []string {
	var out []string
	for _, r := range c.Rules {
		out = append(out, r.Title)
	}
	return out
}

func wantTitles(t *testing.T, c *Collection, want ...string) {
	t.Helper()
	if got := titles(c); !slices.Equal(got, want) {
		t.Errorf("rules: got %q, want %q (problems %q)", got, want, reasons(c))
	}
}

func TestDocumentErrors(t *testing.T) {
	for _, tc := range []struct {
		name, file, want string
		stage            ast.Stage
	}{
		{"two string operators", item(`{F|contains|startswith: x}`), "conflicting modifiers: contains|startswith", ast.StageCompile},
		{"two orderings", item(`{F|gt|lt: 1}`), "conflicting modifiers: gt|lt", ast.StageCompile},
		{"a network in base64", item(`{F|cidr|base64: x}`), "conflicting modifiers: cidr|base64", ast.StageCompile},
		{"a flag without re", item(`{F|i: x}`), "conflicting modifiers: i", ast.StageCompile},
		{"all of one", item(`{F|all: x}`), "'all' of 'F' needs at least two values", ast.StageCompile},
		{"not is no modifier", item(`{F|not: x}`), "negation belongs in the condition", ast.StageParse},
		{"an unknown modifier", item(`{F|foo: x}`), "Unknown modifier 'foo'", ast.StageParse},
		{"an empty modifier", item(`{'F|': x}`), "Unknown modifier ''", ast.StageParse},
		{"an empty modifier in the middle", item(`{'F||re': x}`), "Unknown modifier ''", ast.StageParse},
		{"modifiers are case-sensitive", item(`{F|Contains: x}`), "Unknown modifier 'Contains'", ast.StageParse},
		{"an ordering negated", item(`{F|neq|gt: 1}`), "conflicting modifiers: neq|gt", ast.StageCompile},
		{"two encodings, as written", item(`{F|wide|utf16: x}`), "conflicting modifiers: wide|utf16", ast.StageCompile},
		{"the written order is told", item(`{F|utf16|wide: x}`), "conflicting modifiers: utf16|wide", ast.StageCompile},
		{"a bad expression", item(`{F|re: '[x'}`), "invalid regex: missing closing ]", ast.StageCompile},
		{"an address is no network", item(`{F|cidr: 10.0.0.1}`), "invalid CIDR: 10.0.0.1", ast.StageCompile},
		{"an hour in words", item(`{F|hour: three}`), "expected numeric value: three", ast.StageCompile},
		{"nine dashes", item(`{F|windash: '-a-b-c-d-e-f-g-h-i'}`), "9 dashes, the limit is 8", ast.StageCompile},
		{"five dashes in base64", item(`{F|windash|base64: '-a-b-c-d-e'}`), "5 dashes, the limit is 4", ast.StageCompile},
		{"a wildcard in base64", item(`{F|base64: 'a*'}`), "wildcards cannot be used with 'base64'", ast.StageCompile},
		{"an unknown detection", "title: T\ndetection: {sel: {a: b}, condition: sel and other}", "unknown detection identifier: other", ast.StageCompile},
		{"both base64 forms", item(`{F|base64|base64offset: x}`), "conflicting modifiers: base64|base64offset", ast.StageCompile},
		{"a time part twice", item(`{F|hour|hour: 3}`), "conflicting modifiers: hour|hour", ast.StageCompile},
		{"two time parts", item(`{F|hour|day: 3}`), "conflicting modifiers: hour|day", ast.StageCompile},
		{"fieldref with two operators", item(`{F|fieldref|contains|endswith: x}`), "conflicting modifiers: fieldref|contains|endswith", ast.StageCompile},
		{"presence negated", item(`{F|exists|neq: true}`), "conflicting modifiers: exists|neq", ast.StageCompile},
		{"expand with an expression", item(`{F|expand|re: x}`), "conflicting modifiers: expand|re", ast.StageCompile},
		{"a network without a field", item(`{'|cidr': 10.0.0.0/8}`), "conflicting modifiers: cidr", ast.StageCompile},
		{"a network on the point", item(`{'.|exists': true}`), "conflicting modifiers: exists", ast.StageCompile},
		{"null as an expression", item(`{F|re: null}`), "null cannot be used with 're'", ast.StageCompile},
		{"null as a network in a list", item(`{F|cidr: [10.0.0.0/8, null]}`), "null cannot be used with 'cidr'", ast.StageCompile},
		{"true is no number", item(`{F|gt: true}`), "expected numeric value: true", ast.StageCompile},
		{"hexadecimal text is no number", item(`{F|gt: '0x10'}`), "expected numeric value: 0x10", ast.StageCompile},
		{"a blank makes it no number", item(`{F|gt: ' 5'}`), "expected numeric value:  5", ast.StageCompile},
		{"infinity is no number", item(`{F|gt: inf}`), "expected numeric value: inf", ast.StageCompile},
		{"a wildcard in a reference", item(`{F|fieldref: 'a*'}`), "wildcards are not allowed in a field reference", ast.StageCompile},
		{"look-ahead", item(`{F|re: '(?=x)'}`), "invalid regex: look-ahead `(?=` is not in RE2: write what follows", ast.StageCompile},
		{"look-ahead for what is not there", item(`{F|re: 'a(?!x)'}`), "invalid regex: look-ahead `(?!` is not in RE2: write a second detection", ast.StageCompile},
		{"look-behind", item(`{F|re: '(?<=x)y'}`), "invalid regex: look-behind `(?<=` is not in RE2: write what comes before", ast.StageCompile},
		{"look-behind for what is not there", item(`{F|re: '(?<!x)y'}`), "invalid regex: look-behind `(?<!` is not in RE2: write a second detection", ast.StageCompile},
		{"an atomic group", item(`{F|re: '(?>x)'}`), "invalid regex: an atomic group `(?>` is not in RE2: write (?:...)", ast.StageCompile},
		{"a possessive quantifier", item(`{F|re: 'x{2}+'}`), "invalid regex: a possessive quantifier `}+` is not in RE2: leave the second + out", ast.StageCompile},
		{"a back-reference", item(`{F|re: '(x)\1'}`), "invalid regex: back-reference `\\1` is not in RE2: write the alternatives out", ast.StageCompile},
		{"a group whose name is not finished", item(`{F|re: '(?P<x'}`), "invalid regex: invalid named capture: `(?P<x`", ast.StageCompile},
		{"1001 repeats", item(`{F|re: 'a{1001}'}`), "invalid regex: ", ast.StageCompile},
		{"placeholders in base64", item(`{F|expand|base64: '%x%'}`), "placeholders cannot be used with 'base64'", ast.StageCompile},
		{"a source that no pipeline resolved", item(`{F: 'a${source.x}'}`), "unresolved source placeholder in detection value: a${source.x}", ast.StageCompile},
		{"an empty mapping", item(`{}`), "empty detection", ast.StageCompile},
		{"an empty list", item(`[]`), "empty detection", ast.StageCompile},
		{"an empty mapping in a list", item(`[{}, {a: b}]`), "empty detection", ast.StageCompile},
		{"no title", "detection: {sel: {a: b}, condition: sel}", "Missing required field 'title'", ast.StageParse},
		{"a title that is a number", "title: 1\ndetection: {sel: {a: b}, condition: sel}", "Field 'title' must be a string", ast.StageParse},
		{"no detection", "title: T", "Missing required field 'detection'", ast.StageParse},
		{"a detection that is a list", "title: T\ndetection: [a]", "detection must be a mapping", ast.StageParse},
		{"no condition", "title: T\ndetection: {sel: {a: b}}", "Missing required field 'condition'", ast.StageParse},
		{"an empty list of conditions", "title: T\ndetection: {sel: {a: b}, condition: []}", "invalid condition", ast.StageParse},
		{"a condition that is a number", "title: T\ndetection: {sel: {a: b}, condition: 1}", "invalid condition", ast.StageParse},
		{"a bad condition", "title: T\ndetection: {sel: {a: b}, condition: sel AND sel}", "invalid condition: unexpected \"AND\", expected 'and', 'or' or the end (line 1, column 5)", ast.StageParse},
		{"a logsource that is a string", "title: T\nlogsource: windows\ndetection: {sel: {a: b}, condition: sel}", "logsource must be a mapping", ast.StageParse},
		{"a key under detection that is a number", item(`{4624: x}`), "key 4624 is not a string", ast.StageParse},
		{"a list as document", "- a", "document must be a mapping", ast.StageParse},
		{"a repeated key", "title: T\ntitle: U", "mapping key \"title\" is repeated", ast.StageParse},
		{"bytes that are no UTF-8", "title: \xff", "not UTF-8", ast.StageParse},
		{"an unknown action", "action: merge\ntitle: T", "unknown action \"merge\"", ast.StageParse},
		{"an action that is a list", "action: [global]\ntitle: T", "action must be a string", ast.StageParse},
		{"an unknown selector", "sigma-version: 3\n" + item(`{'c[one]': x}`), "unknown array selector '[one]'", ast.StageParse},
		{"modifiers on a block", "sigma-version: 3\n" + item(`{'c[any]|contains': {p: x}}`), "modifiers on the array block", ast.StageParse},
		{"a chain of selectors", "sigma-version: 3\n" + item(`{'a[0][1]': x}`), "array selectors cannot be chained", ast.StageParse},
		{"a selector alone", "sigma-version: 3\n" + item(`{'[any]': x}`), "array selector without a field name", ast.StageParse},
		{"an empty selector", "sigma-version: 3\n" + item(`{'a[]': x}`), "unknown array selector '[]'", ast.StageParse},
		{"an extended block without a detection", "sigma-version: 3\n" + item(`{'a[any]': {condition: x}}`), "without a named detection", ast.StageParse},
		{"an extended block with an unknown name", "sigma-version: 3\n" + item(`{'a[any]': {condition: y, x: {p: 1}}}`), "unknown detection identifier: y in an array block", ast.StageCompile},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := FromBytes("f.yml", []byte(tc.file), Options{})
			if len(c.Rejected) != 1 || len(c.Rules) != 0 {
				t.Fatalf("rejected %d and loaded %d, want one rejected document", len(c.Rejected), len(c.Rules))
			}
			p := c.Rejected[0].Problems[0]
			if !strings.Contains(p.Reason, tc.want) || p.Stage != tc.stage {
				t.Errorf("got %q at stage %s, want %q at %s", reasons(c), p.Stage, tc.want, tc.stage)
			}
		})
	}
}

func TestSoundDocuments(t *testing.T) {
	for _, tc := range []struct{ name, file string }{
		{"fieldref with one operator", item(`{F|fieldref|endswith: x}`)},
		{"all beside exists", item(`{F|exists|all: true}`)},
		{"a repeated modifier", item(`{F|contains|contains: x}`)},
		{"a mapped network", item(`{F|cidr: '2001:db8::1/32'}`)},
		{"host bits", item(`{F|cidr: '10.1.2.3/8'}`)},
		{"a number as text", item(`{F|gte: '-1.5e3'}`)},
		{"inline flags", item(`{F|re: '(?i)x'}`)},
		{"1000 repeats", item(`{F|re: 'a{1000}'}`)},
		{"eight dashes", item(`{F|windash: '-a-b-c-d-e-f-g-h'}`)},
		{"four dashes in base64", item(`{F|windash|base64: '-a-b-c-d'}`)},
		{"expand without a placeholder in base64", item(`{F|expand|base64: 'x'}`)},
		{"64 nested parentheses", "title: T\ndetection: {sel: {a: b}, condition: " + strings.Repeat("(", 64) + "sel" + strings.Repeat(")", 64) + "}"},
		{"vacuous quantifier", "title: T\ndetection: {sel: {a: b}, condition: sel or all of zz_*}"},
		{"keywords with an expression", item(`{'|re|i': x}`)},
		{"no metadata at all", item(`{F: x}`)},
		{"a byte order mark", "\xef\xbb\xbf" + item(`{F: x}`)},
		{"the bracket is literal below version 3", item(`{'c[one]': x}`)},
		{"the bracket is escaped", "sigma-version: 3\n" + item(`{'args\[0\]': cmd}`)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := FromBytes("f.yml", []byte(tc.file), Options{})
			wantReasons(t, c)
			wantTitles(t, c, "T")
		})
	}
}

func TestWarnings(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		want       []string
	}{
		{"a quantifier that covers nothing", "title: T\ndetection: {sel: {a: b}, condition: all of zz_*}", []string{"'all of zz_*' covers no detection"}},
		{"brackets below version 3", item(`{'args[0]': cmd, 'x[any].y': 1}`), []string{"looks like an array selector"}},
		{"escaped brackets", "sigma-version: 3\n" + item(`{'args\[0\]': cmd}`), nil},
		{"a newer version", "sigma-version: 4\n" + item(`{a: b}`), []string{"newer than this build understands"}},
		{"a version in words", "sigma-version: three\n" + item(`{a: b}`), []string{"not understood"}},
		{"an unknown level", "level: HIGH\n" + item(`{a: b}`), []string{"unknown level \"HIGH\""}},
		{"an unknown status", "status: old\n" + item(`{a: b}`), []string{"unknown status \"old\""}},
		{"an id that is a number", "id: 7\n" + item(`{a: b}`), []string{"field 'id' is not a string"}},
		{"tags with a number", "tags: [a, 1]\n" + item(`{a: b}`), []string{"entries that are no strings"}},
		{"a related entry of an unknown type", "related: [{id: a, type: derived}, {id: b, type: x}]\n" + item(`{a: b}`), []string{"entry of 'related'"}},
		{"a logsource that is a number", "logsource: {product: 7}\n" + item(`{a: b}`), []string{"logsource 'product' is not a string"}},
		{"an unknown attribute", "sluice.unknown: 1\n" + item(`{a: b}`), []string{"unknown attribute 'sluice.unknown'"}},
		{"documentation is never interpreted", "sluice.ads.goal: x\n" + item(`{a: b}`), nil},
		{"a merge key", item(`{<<: y}`), []string{"merge key"}},
		{"a mapping as value", item(`{a: {b: c}}`), []string{"never matches"}},
		{"a list in a list of values", item(`{a: [b, [c]]}`), []string{"never matches"}},
		{"an empty list of values", item(`{a: []}`), []string{"empty list of values"}},
		{"null in a list", item(`{a: [null, x]}`), []string{"matches an absent field as well"}},
		{"null as keyword", item(`[null, x]`), []string{"null as a keyword"}},
		{"an encoding without base64", item(`{a|wide: x}`), []string{"changes nothing without base64"}},
		{"presence in words", item(`{a|exists: maybe}`), []string{"means true"}},
		{"custom attributes that are a list", "custom_attributes: [a]\n" + item(`{a: b}`), []string{"not a mapping"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := FromBytes("f.yml", []byte(tc.file), Options{})
			wantReasons(t, c)
			wantWarnings(t, c, tc.want...)
		})
	}
}

func TestDocumentsOfOneFile(t *testing.T) {
	const a = "title: A\ndetection: {sel: {C|contains: y}, condition: sel}\n"
	c := FromBytes("f.yml", []byte(a+"---\naction: repeat\ntitle: B\ndetection: {sel: {C|endswith: x}}\n---\nlevel: low\n"), Options{})
	wantTitles(t, c, "A", "B")
	wantReasons(t, c, "Missing required field 'title'", "Missing required field 'detection'")
	if got := c.Rules[1].Detections[0].Node.Items; len(got) != 2 || got[0].Modifiers != ast.Modifiers(ast.Contains) || got[1].Modifiers != ast.Modifiers(ast.EndsWith) {
		t.Errorf("B has the items %+v, want contains y and endswith x", got)
	}
	if r := c.Rejected[0]; r.Document != 3 {
		t.Errorf("rejected document %d, want 3", r.Document)
	}

	c = FromBytes("f.yml", []byte(a+"---\nx: [\n---\n"+a), Options{})
	wantTitles(t, c, "A")
	if len(c.Rejected) != 1 || c.Rejected[0].Document != 2 {
		t.Errorf("rejected %+v, want document 2 alone", c.Rejected)
	}

	c = FromBytes("f.yml", []byte("action: repeat\n"+a), Options{})
	wantTitles(t, c)
	wantReasons(t, c, "action repeat without a document before it")

	c = FromBytes("f.yml", []byte("action: global\nlevel: high\n---\n"+a+"---\naction: reset\n---\n"+strings.Replace(a, "A", "B", 1)+"---\n"), Options{})
	wantTitles(t, c, "A", "B")
	wantReasons(t, c)
	if got := []ast.Level{c.Rules[0].Level, c.Rules[1].Level}; !slices.Equal(got, []ast.Level{ast.LevelHigh, ast.LevelNone}) {
		t.Errorf("levels %v, want the template's for A only", got)
	}

	// A document that fails becomes the previous one all the same.
	c = FromBytes("f.yml", []byte("title: A\n---\naction: repeat\ndetection: {sel: {a: b}, condition: sel}\n"), Options{})
	wantTitles(t, c, "A")
}

func TestOverlayDepth(t *testing.T) {
	deep := func(levels int) string {
		return strings.Repeat("{a: ", levels) + "x" + strings.Repeat("}", levels)
	}
	file := func(levels int) string {
		return "action: global\nd: " + deep(levels) + "\n---\nd: " + deep(levels) + "\n" + item("{a: b}") + "---\naction: reset\n---\n" + strings.Replace(item("{a: b}"), "T", "U", 1)
	}
	wantTitles(t, FromBytes("f.yml", []byte(file(63)), Options{}), "T", "U")
	c := FromBytes("f.yml", []byte(file(64)), Options{})
	wantTitles(t, c, "U")
	wantReasons(t, c, "deeper than 64 mapping levels")
}

func TestEveryProblemIsReported(t *testing.T) {
	c := FromBytes("f.yml", []byte(item("\n    A|foo: x\n    B|cidr: 10.0.0.1\n    C|re: '['")), Options{})
	wantReasons(t, c, "Unknown modifier 'foo'", "invalid CIDR: 10.0.0.1", "invalid regex")
	if len(c.Rejected) != 1 {
		t.Errorf("%d entries, want one for the document", len(c.Rejected))
	}
	var lines []int
	for _, p := range c.Problems() {
		lines = append(lines, p.Line)
		if p.Title != "T" || p.File != "f.yml" || p.Document != 1 {
			t.Errorf("problem %+v does not name its document", p)
		}
	}
	if !slices.Equal(lines, []int{4, 5, 6}) {
		t.Errorf("lines %v, want 4 5 6", lines)
	}
}

func TestScalars(t *testing.T) {
	str := ast.StringValue
	num := func(s string) ast.Value { return ast.Value{Kind: ast.Number, Text: s} }
	boolean := func(s string) ast.Value { return ast.Value{Kind: ast.Bool, Text: s} }
	for text, want := range map[string]ast.Value{
		"true": boolean("true"), "True": boolean("true"), "FALSE": boolean("false"), "tRUE": str("tRUE"),
		"null": {}, "~": {}, "Null": {}, "": {},
		"yes": str("yes"), "on": str("on"), "off": str("off"), "n": str("n"),
		"4624": num("4624"), "-5": num("-5"), "+5": num("5"), "0": num("0"), "-0": num("0"),
		"007": str("007"), "-007": str("-007"), "1_000": str("1_000"), "0b11": str("0b11"), "0x1F": num("31"), "0o17": num("15"), "0xg": str("0xg"), "-0x1F": str("-0x1F"),
		"100000000000000000000001": num("100000000000000000000001"), "0xffffffffffffffffff": num("4722366482869645213695"),
		"1.5": num("1.5"), "1.0": num("1"), "1e3": num("1000"), "1.": num("1"), ".5": num("0.5"), "1e": str("1e"), "1e21": num("1000000000000000000000"),
		".inf": str(".inf"), ".nan": str(".nan"), "1e999": str("1e999"), "-.inf": str("-.inf"),
		"2024-01-31": str("2024-01-31"), "2024-01-31T10:00:00Z": str("2024-01-31T10:00:00Z"), "10:30": str("10:30"),
		"'4624'": str("4624"), `"true"`: str("true"), "!!str 12": str("12"), "!!int '12'": num("12"), "'*'": str("*"),
		".": str("."), "-": str("-"), "1.2.3": str("1.2.3"), "10.0.0.0/8": str("10.0.0.0/8"),
	} {
		if text == "-" {
			text = "'-'"
		}
		c := FromBytes("f.yml", []byte("title: T\ndetection:\n  sel:\n    F: "+text+"\n  condition: sel\n"), Options{})
		if len(c.Rules) != 1 {
			t.Errorf("%s: %v", text, reasons(c))
			continue
		}
		if got := c.Rules[0].Detections[0].Node.Items[0].Values[0]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]int{
		"3": 3, "2.1": 2, `"3"`: 3, `"2.1.0"`: 2, `" v3.1 "`: 3, `"V2"`: 2, "4": 3, "99999999999999999999": 3, "x": 2, "-1": 2, "[3]": 2, "1": 1,
	} {
		c := FromBytes("f.yml", []byte("sigma-version: "+text+"\n"+item("{a: b}")), Options{})
		if got := c.Rules[0].Version; got != want {
			t.Errorf("sigma-version %s: got %d, want %d", text, got, want)
		}
	}
}

func TestAliases(t *testing.T) {
	c := FromBytes("f.yml", []byte("x: &v [a, b]\n"+item("{F: *v}")), Options{})
	wantReasons(t, c)
	if got := c.Rules[0].Detections[0].Node.Items[0].Values; len(got) != 2 {
		t.Errorf("values %+v, want the two of the anchor", got)
	}
	bomb := "title: T\na: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'h'; i++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", i-1), 10), ","))
	}
	c = FromBytes("f.yml", []byte(bomb+"---\n"+item("{a: b}")), Options{})
	wantReasons(t, c, "aliases reach more than 100000 nodes")
	wantTitles(t, c, "T")
	for _, long := range []string{"x: &x " + strings.Repeat("x", 100_000), "x: &x [" + strings.Repeat("xxxxxxxxx, ", 10_000) + "x]", "? &x " + strings.Repeat("x", 100_000) + "\n: 1"} {
		c = FromBytes("f.yml", []byte(item("{a: b}")+long+"\nmine: ["+strings.Repeat("*x, ", 300)+"x]\n---\n"+item("{a: b}")), Options{})
		wantReasons(t, c, "aliases reach more than 100000 nodes")
		wantTitles(t, c, "T")
	}
	c = FromBytes("f.yml", []byte("a: &a [*a]\n"), Options{})
	wantReasons(t, c, "contains itself")
	c = FromBytes("f.yml", []byte("a: &a b\n---\n"+item("{a: *a}")), Options{})
	wantReasons(t, c, "Missing required field 'title'", "Missing required field 'detection'", "unknown anchor 'a'")
}

func TestCustomAttributes(t *testing.T) {
	c := FromBytes("f.yml", []byte("score: 7\nbig: 100000000000000000001\nx: {1: a, b: .inf, c: [2024-01-01, 1.50]}\ncustom_attributes: {score: '8', d: null}\n"+item("{a: b}")), Options{})
	wantReasons(t, c)
	got, err := json.Marshal(c.Rules[0].Attributes)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"big":100000000000000000001,"d":null,"score":"8","x":{"b":null,"c":["2024-01-01",1.5]}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
