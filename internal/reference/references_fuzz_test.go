package reference_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
	"github.com/sluicehq/sluice/sigma/load"
)

// mixed are pieces of each other, so that references and templates often hold.
var mixed = []string{
	`"a"`, `"b"`, `"ab"`, `"aB"`, `"ba"`, `"abab"`, `""`, `"É"`, `"é"`, `"aé"`, `"\u0061"`, `"1"`, "1", "1.0", "true", "null", "{}", `{"p":"a"}`, `{"p":1.0}`, `{"p":1}`, "[]",
}

func oneOf[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// arrayOf is a value, or an array of some of them, as a rule longer than what is
// compared one by one.
func arrayOf(rng *rand.Rand, depth int) string {
	if rng.IntN(4) == 0 {
		return oneOf(rng, mixed...)
	}
	var list []string
	for range rng.IntN(9) {
		if depth > 0 && rng.IntN(6) == 0 {
			list = append(list, arrayOf(rng, depth-1))
		} else {
			list = append(list, oneOf(rng, mixed...))
		}
	}
	return "[" + strings.Join(list, ",") + "]"
}

func referenceRule(rng *rand.Rand, i int) string {
	name := func() string { return oneOf(rng, "A", "B", "C", "x.p") }
	field := oneOf(rng, name(), name()+"[any]", name()+"[none]", name()+"[all]", "x[any].p", name()+"[0]")
	mods := oneOf(rng, "", "|contains", "|startswith", "|endswith") + oneOf(rng, "", "|cased") + oneOf(rng, "", "|neq")
	value := name()
	if rng.IntN(2) == 0 {
		mods = "|expand" + mods
		value = ""
		for range 1 + rng.IntN(4) {
			value += oneOf(rng, "", "a", "b", "É") + "%" + name() + "%"
		}
	} else {
		mods = "|fieldref" + mods
	}
	return fmt.Sprintf("title: R%d\nsigma-version: 3\ndetection:\n  sel: {'%s%s': '%s'}\n  condition: sel\n", i, field, mods, value)
}

func judgeReferences(t *testing.T, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	var docs []string
	for i := range 10 {
		docs = append(docs, referenceRule(rng, i))
	}
	yaml := strings.Join(docs, "---\n")
	p := newPair(t, load.FromBytes("r.yml", []byte(yaml), load.Options{}).Rules, reference.Options{Detail: reference.Detail(seed % 3)})
	for range 20 {
		line := fmt.Sprintf(`{"A":%s,"B":%s,"C":%s,"x":[{"p":%s},{"p":%s}]}`,
			arrayOf(rng, 2), arrayOf(rng, 2), arrayOf(rng, 1), arrayOf(rng, 1), arrayOf(rng, 0))
		if p.judge(t, []byte(line)); t.Failed() {
			t.Fatalf("seed %d, event %s, rules\n%s", seed, line, yaml)
		}
	}
}

// References and templates over arrays are judged as if every pair and every
// combination were tried.
func FuzzReferencesOverArraysAreJudgedAlike(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(judgeReferences)
}

func TestReferencesOverArraysAreJudgedAlike(t *testing.T) {
	for seed := range rounds(t, 60) {
		judgeReferences(t, uint64(seed))
	}
}
