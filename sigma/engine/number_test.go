package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/sluicehq/sluice/sigma/engine"
)

// A number in a rule matches the same number in an event, however either is written.
func TestEveryNumberMatchesItself(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{1e25, 1e23, 1e21, 1e22, 1.5e300, -1e25, 1e-7, 0.1, math.MaxFloat64, 1 << 53, 1 << 63, 1 << 64}
	for range 300 {
		numbers = append(numbers, math.Float64frombits(r.Uint64()&^(1<<62)|r.Uint64()&(1<<62)), math.Round(math.Exp(80*r.Float64())))
	}
	for _, x := range numbers {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			continue
		}
		spellings := []string{strconv.FormatFloat(x, 'e', -1, 64), strconv.FormatFloat(x, 'f', -1, 64), strconv.FormatFloat(x, 'g', -1, 64), strconv.FormatFloat(x, 'E', -1, 64)}
		for _, rule := range spellings {
			set := compile(t, rulesOf(t, fmt.Sprintf("title: T\ndetection: {s: {N: %s, M|gte: %s, O|lte: '%s'}, condition: s}\n", rule, rule, rule)), engine.Options{})
			w := set.NewWorker()
			for _, event := range spellings {
				var ev engine.Events
				if err := w.DecodeJSON(&ev, fmt.Appendf(nil, `{"N":%s,"M":%s,"O":"%s"}`, event, event, event)); err != nil {
					t.Fatal(err)
				}
				if len(titles(w, &ev)) != 1 {
					t.Errorf("a rule with %s does not match an event with %s", rule, event)
				}
			}
		}
	}
}

func TestNumericTextHasDigitsOnOneSideOfThePoint(t *testing.T) {
	for _, tc := range []struct {
		rule, value string
		want        bool
	}{
		{"{N|gte: 0.5}", `".5"`, true},
		{"{N|gte: 0.5}", `"5."`, true},
		{"{N|gte: 0.5}", `"+.5e1"`, true},
		{"{N|gte: 0.5}", `"."`, false},
		{"{N|gte: 0.5}", `"5.e"`, false},
		{"{N: 5}", `"5."`, true},
		{"{N|gt: '.4'}", `0.5`, true},
		{"{N: .5}", `0.5`, true},
		{"{N: 0.5}", `".5"`, true},
		{"{N|lt: '5.'}", `".5"`, true},
		{"{N: 5}", `".5"`, false},
		{"{N|gt: 0}", `"-.5"`, false},
		{"{N|gt: 0}", `".e5"`, false},
	} {
		set := compile(t, rulesOf(t, "title: T\ndetection: {s: "+tc.rule+", condition: s}\n"), engine.Options{})
		w := set.NewWorker()
		var ev engine.Events
		if err := w.DecodeJSON(&ev, []byte(`{"N":`+tc.value+`}`)); err != nil {
			t.Fatal(err)
		}
		if got := len(titles(w, &ev)) == 1; got != tc.want {
			t.Errorf("%s on %s: got %t, want %t", tc.rule, tc.value, got, tc.want)
		}
	}
}
