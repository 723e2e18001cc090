package reference_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

// crossing writes a rule with many short values on a field on which other documents have
// rules, too: numbers of values that tables, states and positions could be too narrow for.
func crossing(operator string, n int) string {
	values := make([]string, n)
	for i := range values {
		values[i] = value(i)
	}
	return "{title: Many, detection: {s: {'C" + operator + "': [" + strings.Join(values, ", ") + "]}, condition: s}}\n---\n" +
		"{title: Few, detection: {s: {'C|contains': [whoa, 'x-y']}, condition: s}}\n---\n" +
		"{title: One, detection: {s: {'C|endswith': who}, condition: s}}\n"
}

// value is a text of four to six characters, another one for every number.
func value(i int) string {
	return fmt.Sprintf("'%s%s'", strings.ToLower(fmt.Sprintf("%04X", i*40503&math.MaxUint16)), []string{"", "z", "zz"}[i/math.MaxUint16%3])
}

func TestNoNumberOfValuesHidesARule(t *testing.T) {
	for _, operator := range []string{"|contains", "|startswith", "|endswith", "", "|contains|cased", "|re", "|windash|contains"} {
		for _, n := range []int{17, 513, math.MaxInt16 + 2, math.MaxUint16 + 2} {
			if n > 513 && (operator == "|re" || strings.Contains(operator, "cased")) {
				continue // evaluated one by one, which takes no table
			}
			if n > 513 && sigmatest.Watched {
				continue // one goroutine does it all
			}
			t.Run(fmt.Sprint(n, operator), func(t *testing.T) {
				rules := rulesOf(t, crossing(operator, n))
				p := newPair(t, rules, reference.Options{})
				r := rand.New(rand.NewPCG(uint64(n), 3))
				for _, text := range []string{"", "~", "xx whoa", "who", value(r.IntN(n)), value(r.IntN(n)), value(n - 1), value(0), value(r.IntN(n)) + value(r.IntN(n)) + "who", "a-y" + value(r.IntN(n))} {
					p.judge(t, fmt.Appendf(nil, `{"C":"%s"}`, strings.ReplaceAll(text, "'", "")))
				}
			})
		}
	}
}
