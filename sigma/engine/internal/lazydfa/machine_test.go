package lazydfa

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var expressions = []string{
	`fo+\d`, `(?i)foo`, `^abc$`, `(?m)^b$`, `\bword\b`, `\Bx`, `a|b*c`, `(a|aa)+$`, `[^a-z]{3}`, `(?s)a.b`, `a.b`, ``,
	`x*`, `(?i)k\s+s`, `^$`, `\z\A.`, `\.(exe|dll)$`, `[0-9a-f]{8}-[0-9a-f]{4}`, `(?:a?){10}a{10}`, `(^|,)a(,|$)`,
}

func TestMachineAgreesWithTheStandardLibrary(t *testing.T) {
	texts := []string{
		"", "a", "b", "c", "abc", "xabc", "a\nb", "a\nb\nc", "foo7", "xxfoo7yy", "FOO7", "a word here", "swords", "word",
		"aaaaaaaaaaaaaaa", "K  S", "ks", "C:\\x.exe", "x.exe.bak", "12345678-1234", ",a,", "a,b", "b\n", "\n", "ABC123", "x",
	}
	for _, source := range expressions {
		p, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		m, want := NewMachine(p), regexp.MustCompile(source)
		for _, text := range texts {
			got, ok := m.Match([]byte(text))
			if !ok || got != want.MatchString(text) {
				t.Errorf("%q on %q: got %t (ok %t), want %t", source, text, got, ok, want.MatchString(text))
			}
		}
	}
}

func TestMachineGivesUpBeyondItsBound(t *testing.T) {
	p, err := Compile(`a.{12}b`)
	if err != nil {
		t.Fatal(err)
	}
	m := NewMachine(p)
	var text strings.Builder
	random := rand.New(rand.NewPCG(1, 2))
	for range 1 << 16 {
		text.WriteByte("ac"[random.IntN(2)])
	}
	if _, ok := m.Match([]byte(text.String())); ok {
		t.Errorf("a machine of %d states answered, want it to give up", len(m.states))
	}
	if _, ok := m.Match([]byte("a")); ok {
		t.Error("a machine that gave up answered again")
	}
}

func TestMachineLeavesOtherCharactersToTheCaller(t *testing.T) {
	p, err := Compile(`x`)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := NewMachine(p).Match([]byte("é x")); ok {
		t.Error("a text outside ASCII was judged, want it refused")
	}
}

func FuzzMachineAgreesWithTheStandardLibrary(f *testing.F) {
	for _, e := range expressions {
		f.Add(e, "some text foo7\n")
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		re, err := regexp.Compile(source)
		if err != nil || len(source) > 200 {
			t.Skip()
		}
		p, err := Compile(source)
		if err != nil {
			t.Fatalf("%q compiles with regexp, but: %v", source, err)
		}
		if got, ok := NewMachine(p).Match([]byte(text)); ok && got != re.MatchString(text) {
			t.Errorf("%q on %q: got %t, want %t", source, text, got, re.MatchString(text))
		}
	})
}
