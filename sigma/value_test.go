package sigma_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/sluicehq/sluice/sigma"
)

func lit(s string) sigma.Part { return sigma.Part{Kind: sigma.Literal, Text: s} }

func TestPartsOfAStringValue(t *testing.T) {
	many, one := sigma.Part{Kind: sigma.Many}, sigma.Part{Kind: sigma.One}
	for _, tc := range []struct {
		name, text string
		want       []sigma.Part
	}{
		{"the empty string has no parts", ``, nil},
		{"a star and a question mark are wildcards", `a*b?`, []sigma.Part{lit("a"), many, lit("b"), one}},
		{"an escaped wildcard is literal", `\*\?`, []sigma.Part{lit(`*?`)}},
		{"two backslashes are one", `a\\b`, []sigma.Part{lit(`a\b`)}},
		{"a backslash before anything else stays", `C:\Win`, []sigma.Part{lit(`C:\Win`)}},
		{"a backslash at the end stays", `C:\`, []sigma.Part{lit(`C:\`)}},
		{"two backslashes and a star are a backslash and a wildcard", `\\*`, []sigma.Part{lit(`\`), many}},
		{"three backslashes and a star are a backslash and a star", `\\\*`, []sigma.Part{lit(`\*`)}},
		{"four backslashes are two", `\\\\`, []sigma.Part{lit(`\\`)}},
		{"a single backslash escapes the star of a path", `C:\Win\*`, []sigma.Part{lit(`C:\Win*`)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := sigma.ParseParts(tc.text); !reflect.DeepEqual(got, tc.want) {
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
		parts := sigma.ParseParts(text)
		if got := sigma.ParseParts(sigma.JoinParts(parts)); !reflect.DeepEqual(got, parts) {
			t.Errorf("parts of %q: %v, after rewriting as %q: %v", text, parts, sigma.JoinParts(parts), got)
		}
		v := sigma.LiteralValue(text)
		if v.HasWildcard() || v.Plain() != text {
			t.Errorf("LiteralValue(%q) means %q", text, v.Plain())
		}
		if got := sigma.StringValue(v.Text); !reflect.DeepEqual(got.Parts, v.Parts) {
			t.Errorf("LiteralValue(%q) reads back as %v, want %v", text, got.Parts, v.Parts)
		}
	})
}

func TestModifiersPrintAndParse(t *testing.T) {
	all := sigma.Modifiers(1<<30 - 1)
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var got sigma.Modifiers
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got != all {
		t.Errorf("%s reads back as %v, want %v", b, got, all)
	}
	if m, ok := sigma.ParseModifier("wide"); !ok || m != sigma.UTF16LE {
		t.Errorf(`ParseModifier("wide") = %v, %v, want utf16le`, m, ok)
	}
	for _, unknown := range []string{"", "Contains", "not", "foo"} {
		if m, ok := sigma.ParseModifier(unknown); ok {
			t.Errorf("ParseModifier(%q) = %v, want unknown", unknown, m)
		}
	}
}

func TestLevelsAreOrderedAndReadBack(t *testing.T) {
	for i, name := range []string{"informational", "low", "medium", "high", "critical"} {
		l, err := sigma.ParseLevel(name)
		if err != nil || int(l) != i+1 || l.String() != name {
			t.Errorf("ParseLevel(%q) = %v (%d), %v", name, l, l, err)
		}
	}
	for _, bad := range []string{"", "High", "urgent"} {
		if _, err := sigma.ParseLevel(bad); err == nil {
			t.Errorf("ParseLevel(%q) succeeded", bad)
		}
	}
}
