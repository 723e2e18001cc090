package event

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestInstant(t *testing.T) {
	for _, tc := range []struct {
		name string
		raw  string
		want int64
		ok   bool
	}{
		{"seconds", `1720583100`, 1720583100, true},
		{"1e12 itself is seconds", `1000000000000`, 1000000000000, true},
		{"milliseconds", `1720583100123`, 1720583100, true},
		{"microseconds", `1720583100123456`, 1720583100, true},
		{"nanoseconds", `1720583100123456789`, 1720583100, true},
		{"1e18 itself is microseconds", `1000000000000000000`, 1000000000000, true},
		{"one more is nanoseconds", `1000000000000000001`, 1000000000, true},
		{"a float is cut toward zero", `1720583100.9`, 1720583100, true},
		{"never negative", `-5`, 0, true},
		{"digits as text", `"1720583100"`, 1720583100, true},
		{"nine digits are no time", `"172058310"`, 0, false},
		{"RFC 3339", `"2024-07-10T14:30:00.9+02:00"`, 1720614600, true},
		{"lower case", `"2024-07-10t12:30:00z"`, 1720614600, true},
		{"a blank and no offset is UTC", `"2024-07-10 12:30:00.123456789012"`, 1720614600, true},
		{"an offset without colon", `"2024-07-10T12:30:00+0000"`, 1720614600, true},
		{"before 1970", `"1960-01-01T00:00:00Z"`, 0, true},
		{"no such day", `"2024-02-30T00:00:00Z"`, 0, false},
		{"a date alone", `"2024-07-10"`, 0, false},
		{"a boolean", `true`, 0, false},
		{"an array", `[1720583100]`, 0, false},
	} {
		got, ok, _ := ValueOf([]byte(tc.raw)).Instant(nil)
		if ok != tc.ok || ok && got != tc.want {
			t.Errorf("%s: got %d, %t, want %d, %t", tc.name, got, ok, tc.want, tc.ok)
		}
	}
}

func TestClock(t *testing.T) {
	for _, tc := range []struct{ raw, want string }{
		{`"2024-07-10T03:45:00+02:00"`, "2024-07-10T01:45:00"},
		{`1720583100000`, "2024-07-10T03:45:00"},
		{`-1`, "1969-12-31T23:59:59"},
		{`-0.5`, "1969-12-31T23:59:59"},
		{`"1720583100"`, ""},
		{`"2024-07-10T03:45:00+0200"`, ""},
		{`1e30`, ""},
	} {
		got := ""
		if c, ok, _ := ValueOf([]byte(tc.raw)).Clock(nil); ok {
			got = c.Format("2006-01-02T15:04:05")
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.raw, got, tc.want)
		}
	}
}

func TestShortNumbersAreReadLikeLongOnes(t *testing.T) {
	for _, s := range []string{"0", "7", "00", "0012", "4688", "9007199254740993", "999999999999999999", "1000000000000000000", "12345678901234567890"} {
		short, ok := ParseNumeric([]byte(s))
		long, want := ParseNumeric([]byte("+" + s)) // a sign takes the long way
		if ok != want || short != long {
			t.Errorf("%s: got %+v, %t, want %+v, %t", s, short, ok, long, want)
		}
	}
}

func TestNumericText(t *testing.T) {
	for _, tc := range []struct {
		text string
		want bool
	}{
		{"0", true},
		{"-1", true},
		{"+1.50", true},
		{"1e5", true},
		{"1E-5", true},
		{"18446744073709551616", true},
		{"007", true},
		{"", false},
		{"-", false},
		{" 1", false},
		{"1.", true},
		{"0x10", false},
		{"1_0", false},
		{"inf", false},
		{"nan", false},
		{"1.", true},
		{".5", true},
		{"1.", true},
		{"1.5.2", false},
	} {
		if _, got := ParseNumeric([]byte(tc.text)); got != tc.want {
			t.Errorf("%q is numeric: got %t, want %t", tc.text, got, tc.want)
		}
	}
}

func TestNumbersCompare(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"4624", "4624.0", 0},
		{"9007199254740993", "9007199254740992", 1},
		{"18446744073709551615", "18446744073709551614", 1},
		{"-9223372036854775808", "-9223372036854775807", -1},
		{"-1", "1", -1},
		{"-0", "0", 0},
		{"1e23", "100000000000000000000001", 0},
		{"0.1", "0.2", -1},
		{"1e25", "10000000000000000000000000", 0},
		{"-1e25", "-10000000000000000000000000.0", 0},
		{"2.5e30", "2500000000000000000000000000000", 0},
		{"1e22", "10000000000000000000000", 0},
		{".5", "5e-1", 0},
		{"5.", "5", 0},
		{"+.5e1", "5.0", 0},
		{"-9300000000000000000", "-9.3e18", 0},
		{"1e400", "2e400", 0},
	} {
		a, _ := ParseNumeric([]byte(tc.a))
		b, _ := ParseNumeric([]byte(tc.b))
		if got := a.Compare(b); got != tc.want {
			t.Errorf("%s against %s: got %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestNumberText(t *testing.T) {
	for raw, want := range map[string]string{
		"4688": "4688", "1.0": "1", "1.50": "1.5", "1e21": "1000000000000000000000", "-0.5": "-0.5",
		"100000000000000000000001": "100000000000000000000001", "1e400": "1e400",
	} {
		if got := string(AppendNumberText(nil, []byte(raw))); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, tc := range []struct {
		name    string
		field   string
		version int
		event   string
		want    []string
	}{
		{"a flat key wins", "a.b", 2, `{"a":{"b":1},"a.b":2}`, []string{"2"}},
		{"even null", "a.b", 2, `{"a":{"b":1},"a.b":null}`, []string{"null"}},
		{"arrays are crossed in order", "a.b", 2, `{"a":[{"b":1},3,[{"b":2}]]}`, []string{"1", "2"}},
		{"no flat key below the root", "a.b.c", 2, `{"a":{"b.c":1}}`, nil},
		{"the empty key", "a..b", 2, `{"a":{"":{"b":1}}}`, []string{"1"}},
		{"repeated keys", "a", 2, `{"a":1,"a":[2]}`, []string{"1", "[2]"}},
		{"a root array, element by element", "a", 2, `[{"a":1},[{"a":2}],{"a":3}]`, []string{"1", "3"}},
		{"a position", "a[0].b", 3, `{"a":[{"b":1},{"b":2}]}`, []string{"1"}},
		{"from the end", "a[-1]", 3, `{"a":[1,2]}`, []string{"2"}},
		{"out of range", "a[2]", 3, `{"a":[1,2]}`, nil},
		{"a scalar is no array of one", "a[0]", 3, `{"a":1}`, nil},
		{"below version 3 brackets are characters", "a[0]", 2, `{"a[0]":1,"a":[2]}`, []string{"1"}},
		{"escaped brackets are characters", `a\[0\]`, 3, `{"a[0]":1,"a":[2]}`, []string{"1"}},
		{"escapes in keys", "é", 2, `{"\u00e9":1}`, []string{"1"}},
	} {
		p := ParsePath(tc.field, tc.version)
		var got []string
		for _, h := range p.Resolve(nil, ValueOf([]byte(tc.event)), true) {
			got = append(got, string(h.Raw))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %s of %s is %v, want %v", tc.name, tc.field, tc.event, got, tc.want)
		}
	}
}

func TestPlacesTakeAnyOneKey(t *testing.T) {
	p := ParsePattern("u.*.f")
	var got []string
	for _, h := range p.Resolve(nil, ValueOf([]byte(`{"u":{"x":{"f":1},"y":{"g":2},"z":{"f":3}}}`)), false) {
		got = append(got, string(h.Raw))
	}
	if want := []string{"1", "3"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFoldRuneIsOneForAllCases(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := FoldRune(r)
		for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
			if got := FoldRune(o); got != want {
				t.Fatalf("%U folds to %U, but %U to %U", r, want, o, got)
			}
		}
		if unicode.SimpleFold(r) == r && want != r {
			t.Fatalf("%U has no other case, but folds to %U", r, want)
		}
	}
}

func TestCompactKeepsEverythingButBlanks(t *testing.T) {
	in := "{ \"a b\" : [ 1 , 2.50 , \"x \\\" y\\u0041\" ] , \"a b\" : \"\xff\" }"
	want := "{\"a b\":[1,2.50,\"x \\\" y\\u0041\"],\"a b\":\"\uFFFD\"}"
	if got := string(AppendCompact(nil, []byte(in))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzQuotedTextIsReadBack(f *testing.F) {
	for _, s := range []string{"", "a\"b\\c", "\x00\x1f\n\t", "é\U0001F600", "\xff\xfe", "<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := AppendQuoted(nil, s)
		if !json.Valid(quoted) {
			t.Fatalf("%q is no JSON: %s", s, quoted)
		}
		var want string
		if err := json.Unmarshal(quoted, &want); err != nil {
			t.Fatal(err)
		}
		if got := string(AppendUnquoted(nil, quoted)); got != want {
			t.Errorf("%s: got %q, want %q", quoted, got, want)
		}
		if got := string(AppendValid(nil, []byte(s))); got != want {
			t.Errorf("%q: valid form %q, want %q", s, got, want)
		}
		if strings.ContainsAny(string(quoted), "<>&") != strings.ContainsAny(s, "<>&") {
			t.Errorf("%s: escaped for HTML", quoted)
		}
	})
}
