package lazydfa

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
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
			got, ok := m.table([]byte(text))
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
	if m.Match(random(1<<18, "ab", 1)) {
		t.Error("a text without c matches")
	}
	if m.credit > 0 {
		t.Errorf("a text that needs a state for each byte left %d steps of credit, want none", m.credit)
	}
	most, before := 0, m.pool.lanes.steps
	for i := range 10_000 {
		if !m.Match([]byte("xaaaaabaaaaabaaaaabaaaaabac")) {
			t.Fatalf("text %d: no match", i)
		}
		most = max(most, m.bytes)
		if i == 1000 {
			before = m.pool.lanes.steps
		}
	}
	if m.pool.lanes.steps != before {
		t.Errorf("easy texts behind a hard one took %d steps without the table, want none", m.pool.lanes.steps-before)
	}
	for seed := range uint64(20) {
		m.Match(random(1<<18, "ab", seed))
		most = max(most, m.bytes)
	}
	if most > MaxBytes {
		t.Errorf("the machine held %d bytes, want at most %d", most, MaxBytes)
	}
	if m.pool.bytes != m.bytes {
		t.Errorf("the pool counts %d bytes, its machine %d", m.pool.bytes, m.bytes)
	}
}

// Whatever the text, 64 characters take a few steps for each part of an expression, and
// for a part in a loop at most as many for each of them.
func TestStepsGrowWithTheTextAndTheExpression(t *testing.T) {
	sigmatest.Plainly(t)
	const size = 200_000
	periodic := strings.Repeat(string(random(3000, "ab", 9)), 10)
	for _, tc := range []struct {
		name, source string
		perByte      uint64 // steps, at most
	}{
		{"choices before and behind", `(a|b){450}a(a|b){449}c`, 60},
		{"what may be left out", `(a?){900}c`, 100},
		{"what may be left out together", `(?:ab?){900}c`, 200},
		{"up to 900 characters", `.{0,900}c`, 60},
		{"nested repetitions", `((((a|b){9}b?){9}a){9}c?)+d`, 1000},
		{"a repeated choice", `(?:(?:a|bb){400}c|a|b)*d`, 800},
		{"repetitions in repetitions", `(?:(?:(?:a*b)*a)*b)*c`, 900},
		{"many words", `(` + strings.Repeat(`a[ab]b|b[ab]a|ab[ab]{9}|`, 100) + `x)c`, 100},
		{"many words from each character on", `^é?(?:` + strings.Repeat(`a|[ab]x|b[ab]x|`, 100) + `b)*c`, 2500},
	} {
		for _, kind := range []struct{ name, text string }{
			{"random", string(random(size, "ab", 3))},
			{"other characters", "é" + string(random(size, "ab", 3))},
			{"what repeats ten times and changes", strings.Repeat(periodic, size/len(periodic))},
			{"one letter", strings.Repeat("a", size)},
		} {
			p, err := Compile(tc.source)
			if err != nil {
				t.Fatal(err)
			}
			m := newMachine(p)
			if m.Match([]byte(kind.text)) {
				t.Errorf("%s, %s: matches", tc.name, kind.name)
			}
			if limit := allowance + tc.perByte*uint64(len(kind.text)); m.pool.Steps() > limit {
				t.Errorf("%s, %s: %d steps for %d bytes, want at most %d", tc.name, kind.name, m.pool.Steps(), len(kind.text), limit)
			}
			t.Logf("%s, %s: %d steps for each byte", tc.name, kind.name, m.pool.Steps()/uint64(len(kind.text)))
		}
	}
}

func TestATextIsLookedForInAStepForEachByte(t *testing.T) {
	for _, text := range []string{"x", "abc", "xxabcx", "é", "éabc", "ab\u212a", "\ufffd", strings.Repeat("é", 1000) + "abc"} {
		for source, most := range map[string]int{"abc": 2, "é": 2, `a\.c`: 2, "": 2, "\ufffd": 10 * block, "(?i)k": 10 * block} {
			p, err := Compile(source)
			if err != nil {
				t.Fatal(err)
			}
			m := newMachine(p)
			if got, want := m.Match([]byte(text)), regexp.MustCompile(source).MatchString(text); got != want {
				t.Errorf("%q on %q: got %t, want %t", source, text, got, want)
			}
			built := m.pool.steps
			m.Match([]byte(text))
			if got := m.pool.steps - built; got > uint64(most*(len(text)+block)) {
				t.Errorf("%q on %d bytes: %d steps, want at most %d for each", source, len(text), got, most)
			}
		}
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
		m.credit = allowance
		if got := m.Match(text); got != want.Match(text) {
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
			if got := pool.Machine(i).Match(text); got != want[i].Match(text) {
				t.Fatalf("machine %d, %q: got %t", i, text, got)
			}
			if pool.bytes > pool.limit+MaxBytes {
				t.Fatalf("the pool holds %d bytes, its limit is %d", pool.bytes, pool.limit)
			}
			if m := pool.Machine(i); m.idle && m.credit > 0 {
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
		if got := newMachine(p).Match([]byte(text)); got != re.MatchString(text) {
			t.Errorf("%q on %q: got %t, want %t", source, text, got, re.MatchString(text))
		}
	})
}
