package jq

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/extract/tree"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

// spend runs a program over a text and returns its outputs, the steps that it took, and
// what ended it.
func spend(t *testing.T, program, text string) (outputs []any, steps int, err error) {
	t.Helper()
	p, err := Compile(program)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	v, err := tree.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Begin(len(text))
	before := r.account.steps
	err = r.Over(v, func(v any) bool {
		outputs = append(outputs, v)
		return true
	})
	return outputs, before - r.account.steps, err
}

func TestNumbersWithTooManyDigitsAreDoubles(t *testing.T) {
	const largest = "1.7976931348623157e+308"
	nines := func(n int) string { return strings.Repeat("9", n) }
	one := func(n int) string { return "1" + strings.Repeat("0", n-1) }
	for _, tc := range []struct{ name, program, value, want string }{
		{"999 digits", ".", nines(999), nines(999)},
		{"1,000 digits", ".", nines(1000), nines(1000)},
		{"1,001 digits", ".", nines(1001), largest},
		{"1,001 digits below zero", ".", "-" + nines(1001), "-" + largest},
		{"a fraction of 999 digits", ".", "1." + nines(998), "1." + nines(998)},
		{"a fraction of 1,001 digits", ".", "1." + strings.Repeat("0", 1000), "1"},
		{"a small fraction of 1,001 digits", ".", "0." + strings.Repeat("0", 998) + "1e990", "1e-9"},
		{"a sum of 999 digits", ". + 1", nines(999), one(1000)},
		{"a sum of 1,001 digits", ". + 1", nines(1001), largest},
		{"a product of 999 digits", `. * 10`, one(998), one(999)},
		{"a product of 1,001 digits", `. * 10`, one(1001), largest},
		{"a product that becomes too long", `. * .`, one(501), largest},
		{"a product of two signs", `. * -.`, one(600), "-" + largest},
		{"a product with nothing", `. * 0`, one(1000), "0"},
		{"a text of 999 digits", "tonumber", `"` + nines(999) + `"`, nines(999)},
		{"a text of 1,001 digits", "tonumber", `"` + nines(1001) + `"`, largest},
		{"a text of 1,001 digits in JSON", "fromjson", `"[{\"a\":` + nines(1001) + `}]"`, `[{"a":` + largest + `}]`},
		{"a text of 999 digits in JSON", "fromjson", `"[` + nines(999) + `]"`, `[` + nines(999) + `]`},
		{"a text that is no number", `try tonumber catch "none"`, `"` + nines(1001) + `x"`, `"none"`},
		{"a literal of 999 digits", nines(999), "0", nines(999)},
		{"a literal of 1,001 digits", nines(1001), "0", largest},
		{"comparisons of 999 digits", fmt.Sprintf("[. < %s, . == 1, . > 1.5, . == .]", one(1000)), nines(999), "[true,false,true,true]"},
		{"comparisons of 1,001 digits", fmt.Sprintf("[. > %s, . == 1, . > 1.5, . == .]", nines(300)), nines(1001), "[true,false,true,true]"},
		{"the order of both", "sort", "[" + nines(1001) + ",1," + nines(300) + "]", "[1," + nines(300) + "," + largest + "]"},
		{"a range to 1,001 digits", "[limit(2; range(.))]", nines(1001), "[0,1]"},
		{"an index", `.a[.n]?`, `{"a":[1],"n":` + nines(1001) + `}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			outputs, _, err := spend(t, tc.program, tc.value)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, v := range outputs {
				text, err := tree.Append(nil, v, 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				got += string(text)
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// Neither an event nor a program makes a number cost more than is counted.
func TestLongNumbersAreCounted(t *testing.T) {
	sigmatest.Plainly(t)
	nines := func(n int) string { return strings.Repeat("9", n) }
	many := func(first, each string, n int) string { return `{"a":[` + first + strings.Repeat(","+each, n) + "]}" }
	for _, tc := range []struct {
		name, program, value string
		least, most          int   // steps
		want                 error // of the bounds
	}{
		{"the largest beside a long number", ".a|max", many(nines(100_000), "1", 2000), 0, 10_000, nil},
		{"the order beside a long number", ".a|sort|length", many(nines(100_000), "1", 2000), 0, 10_000, nil},
		{"the sum of a long number", ".a[0]+1", many(nines(1_000_000), "1", 0), 0, 100, nil},
		{"texts that are numbers", `[range(1000)]|map(("9"*500000)|tonumber)|length`, "0", 0, MaxSteps + 250_000, ErrSteps},
		{"a text that is a number", `("9"*500000)|tonumber`, "0", 250_000, MaxSteps, nil},
		{"the largest beside a number that stays", ".a|max", many(nines(1000), "1.5", 2000), 125 * 2000, MaxSteps, nil},
		{"the largest of many beside a number that stays", ".a|max", many(nines(1000), "1.5", 200_000), 125 * 200_000, 1 << 40, ErrSteps},
		{"groups of many beside a number that stays", ".a|group_by(.)", many(nines(1000), "1.5", 200_000), 125 * 200_000, 1 << 40, ErrSteps},
		{"a comparison with a literal", ".a[0]|[range(1000) as $i|. == 1]|length", many(nines(1000), "1", 0), 200 * 1000, MaxSteps, nil},
		{"a comparison with a literal for ever", ".a[0]|until(. == 1; .)", many(nines(1000), "1", 0), MaxSteps, 2 * MaxSteps, ErrSteps},
		{"a sum with a literal for ever", ".a[0]|until(false; . as $n|$n + 1|$n)", many(nines(1000), "1", 0), MaxSteps, 2 * MaxSteps, ErrSteps},
		{"a square of a square", "reduce range(10000) as $i (9; . * .)|. > 1e308", "0", 0, MaxSteps, nil},
		{"a power", "pow(9; 99999)|. > 1e308", "0", 0, 100, nil},
		{"a power of itself", "last(limit(1000; 9|recurse(pow(.; .))))|. > 1e308", "0", 0, MaxSteps, nil},
		{"a sum with itself", "10|until(false; . + .)", "0", MaxSteps, 2 * MaxSteps, ErrSteps},
		{"a range beyond integers", ".a[0]|last(range(.))", many(nines(1000), "1", 0), MaxSteps, 2 * MaxSteps, ErrSteps},
		{"functions of numbers", ".a[0]|until(false; sqrt as $x|.)", many(nines(1000), "1", 0), MaxSteps, 2 * MaxSteps, ErrSteps},
		{"slices", ".a[0] as $n|.a|until(false; .[$n:] as $x|.)", many(nines(1000), "1", 0), MaxSteps, 2 * MaxSteps, ErrSteps},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, steps, err := spend(t, tc.program, tc.value)
			if !errors.Is(err, tc.want) {
				t.Errorf("ended with %v, want %v", err, tc.want)
			}
			if steps < tc.least || steps > tc.most {
				t.Errorf("took %d steps, want %d to %d", steps, tc.least, tc.most)
			}
		})
	}
}

// No integer that a program makes grows beyond what an operation adds to the longest that
// there may be.
func TestIntegersDoNotGrow(t *testing.T) {
	for _, program := range []string{
		"limit(2000; 9|recurse(. * 9))", "limit(2000; 9|recurse(. * .))", `limit(99; "9" * 990|tonumber|recurse(. + .))`, `limit(99; "9" * 990|tonumber|recurse(. - -(.)))`,
		"limit(2000; {a: 9}|recurse(.a *= 9))|.a", `limit(99; "9" * 990|tonumber|recurse([., .]|add))`,
	} {
		outputs, _, err := spend(t, program, "0")
		if err != nil {
			t.Errorf("%s: %v", program, err)
		}
		doubles := 0
		for _, v := range outputs {
			switch v := v.(type) {
			case *big.Int:
				if v.BitLen() > beyond.BitLen()+1 {
					t.Fatalf("%s: an integer of %d bits", program, v.BitLen())
				}
			case float64:
				doubles++
			}
		}
		if doubles == 0 {
			t.Errorf("%s: all of %d outputs are integers", program, len(outputs))
		}
	}
}
