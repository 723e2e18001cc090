package ast_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

func lit(s string) ast.Part { return ast.Part{Kind: ast.Literal, Text: s} }

func TestPartsOfAStringValue(t *testing.T) {
	many, one := ast.Part{Kind: ast.Many}, ast.Part{Kind: ast.One}
	for _, tc := range []struct {
		name, text string
		want       []ast.Part
	}{
		{"the empty string has no parts", ``, nil},
		{"a star and a question mark are wildcards", `a*b?`, []ast.Part{lit("a"), many, lit("b"), one}},
		{"an escaped wildcard is literal", `\*\?`, []ast.Part{lit(`*?`)}},
		{"two backslashes are one", `a\\b`, []ast.Part{lit(`a\b`)}},
		{"a backslash before anything else stays", `C:\Win`, []ast.Part{lit(`C:\Win`)}},
		{"a backslash at the end stays", `C:\`, []ast.Part{lit(`C:\`)}},
		{"two backslashes and a star are a backslash and a wildcard", `\\*`, []ast.Part{lit(`\`), many}},
		{"three backslashes and a star are a backslash and a star", `\\\*`, []ast.Part{lit(`\*`)}},
		{"four backslashes are two", `\\\\`, []ast.Part{lit(`\\`)}},
		{"a single backslash escapes the star of a path", `C:\Win\*`, []ast.Part{lit(`C:\Win*`)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ast.ParseParts(tc.text); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("ParseParts(%q) = %v, want %v", tc.text, got, tc.want)
			}
		})
	}
}

// Whatever text says, writing its parts and reading them again changes nothing.
func FuzzPartsSurviveRewriting(f *testing.F) {
	for _, s := range []string{``, `\\*`, `\`, `a\?b`, `**?\\\`, "\xff*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts := ast.ParseParts(text)
		if got := ast.ParseParts(ast.JoinParts(parts)); !reflect.DeepEqual(got, parts) {
			t.Errorf("parts of %q: %v, after rewriting as %q: %v", text, parts, ast.JoinParts(parts), got)
		}
		v := ast.LiteralValue(text)
		if v.HasWildcard() || v.Plain() != text {
			t.Errorf("LiteralValue(%q) means %q", text, v.Plain())
		}
		if got := ast.StringValue(v.Text); !reflect.DeepEqual(got.Parts, v.Parts) {
			t.Errorf("LiteralValue(%q) reads back as %v, want %v", text, got.Parts, v.Parts)
		}
	})
}

func TestModifiersPrintAndParse(t *testing.T) {
	all := ast.Modifiers(1<<30 - 1)
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var got ast.Modifiers
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got != all {
		t.Errorf("%s reads back as %v, want %v", b, got, all)
	}
	if m, ok := ast.ParseModifier("wide"); !ok || m != ast.UTF16LE {
		t.Errorf(`ParseModifier("wide") = %v, %v, want utf16le`, m, ok)
	}
	for _, unknown := range []string{"", "Contains", "not", "foo"} {
		if m, ok := ast.ParseModifier(unknown); ok {
			t.Errorf("ParseModifier(%q) = %v, want unknown", unknown, m)
		}
	}
}

func TestLevelsAreOrderedAndReadBack(t *testing.T) {
	for i, name := range []string{"informational", "low", "medium", "high", "critical"} {
		l, err := ast.ParseLevel(name)
		if err != nil || int(l) != i+1 || l.String() != name {
			t.Errorf("ParseLevel(%q) = %v (%d), %v", name, l, l, err)
		}
	}
	for _, bad := range []string{"", "High", "urgent"} {
		if _, err := ast.ParseLevel(bad); err == nil {
			t.Errorf("ParseLevel(%q) succeeded", bad)
		}
	}
}
