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
		m, want := newMachine(p), regexp.MustCompile(source)
		for _, text := range texts {
			got, ok := m.Match([]byte(text))
			if !ok || got != want.MatchString(text) {
				t.Errorf("%q on %q: got %t (ok %t), want %t", source, text, got, ok, want.MatchString(text))
			}
		}
	}
}

// hard needs a state for every position, and for every history before it.
const hard = `[ab]*a[ab]{24}c`

func random(n int, of string, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	text := make([]byte, n)
	for i := range text {
		text[i] = of[r.IntN(len(of))]
	}
	return text
}

func TestMachineStaysWithinItsMemoryAndIsNeverSwitchedOff(t *testing.T) {
	p, err := Compile(hard)
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(p)
	if _, ok := m.Match(random(1<<16, "ab", 1)); ok {
		t.Errorf("a text that needs %d states was judged, want it left to the caller", len(m.states))
	}
	refused, most := 0, 0
	for i := range 2 * maxPenalty {
		if match, ok := m.Match([]byte("xaaaaabaaaaabaaaaabaaaaabac")); !ok {
			refused++
		} else if !match {
			t.Fatalf("text %d: no match", i)
		}
		most = max(most, m.bytes)
	}
	if refused == 0 || refused > firstPenalty {
		t.Errorf("%d easy texts behind a hard one were refused, want a few", refused)
	}
	for seed := range uint64(20) {
		for range maxPenalty {
			m.Match([]byte("x"))
		}
		m.Match(random(1<<16, "ab", seed))
		most = max(most, m.bytes)
	}
	if most > MaxBytes {
		t.Errorf("the machine held %d bytes, want at most %d", most, MaxBytes)
	}
	if m.pool.bytes != m.bytes {
		t.Errorf("the pool counts %d bytes, its machine %d", m.pool.bytes, m.bytes)
	}
}

func TestStatesAreDroppedAndBuiltAgain(t *testing.T) {
	p, err := Compile(`[ab]*a[ab]{12}c`)
	if err != nil {
		t.Fatal(err)
	}
	m, want := newMachine(p), regexp.MustCompile(`[ab]*a[ab]{12}c`)
	drops, before := 0, 0
	for seed := range uint64(400) {
		text := append(random(300, "ab", seed/4), "cabd"[seed%4])
		got, ok := m.Match(text)
		if ok && got != want.Match(text) {
			t.Fatalf("%q: got %t", text, got)
		}
		if m.bytes < before {
			drops++
		}
		before = m.bytes
	}
	if drops == 0 {
		t.Error("no state was dropped: the texts are too easy")
	}
}

func TestThePoolTakesMemoryFromMachinesThatWereNotUsedForLongest(t *testing.T) {
	const n = 8
	pool := NewPool(n, 64<<10)
	var want []*regexp.Regexp
	for i := range n {
		source := strings.Repeat("x", i+1) + `[ab]*a[ab]{9}c`
		p, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		pool.Add(i, p)
		want = append(want, regexp.MustCompile(source))
	}
	for round := range 50 {
		for i := range n {
			text := append([]byte(strings.Repeat("x", i+1)), random(40, "ab", uint64(round))...)
			text = append(text, "cb"[round%2])
			if got, ok := pool.Machine(i).Match(text); ok && got != want[i].Match(text) {
				t.Fatalf("machine %d, %q: got %t", i, text, got)
			}
			if pool.bytes > pool.limit+MaxBytes {
				t.Fatalf("the pool holds %d bytes, its limit is %d", pool.bytes, pool.limit)
			}
			if pool.Machine(i).idle {
				t.Errorf("machine %d, which was used last, has lost its states", i)
			}
		}
	}
	sum := 0
	for _, m := range pool.machines {
		sum += m.bytes
	}
	if sum != pool.bytes || sum > pool.limit {
		t.Errorf("machines hold %d bytes, the pool counts %d, its limit is %d", sum, pool.bytes, pool.limit)
	}
}

func newMachine(p *Program) *Machine { return NewPool(1, PoolBytes).Add(0, p) }

func TestMachineLeavesOtherCharactersToTheCaller(t *testing.T) {
	p, err := Compile(`x`)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := newMachine(p).Match([]byte("é x")); ok {
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
		if got, ok := newMachine(p).Match([]byte(text)); ok && got != re.MatchString(text) {
			t.Errorf("%q on %q: got %t, want %t", source, text, got, re.MatchString(text))
		}
	})
}
