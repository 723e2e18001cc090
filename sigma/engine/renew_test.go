package engine

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// edited returns a rule that asks for other values of its fields: some go, some come, and
// some are those of another rule.
func edited(r *ast.Rule, other []ast.Value, rnd *rand.Rand) *ast.Rule {
	out := *r
	out.Detections = slices.Clone(r.Detections)
	for i := range out.Detections {
		out.Detections[i].Node = editedNode(out.Detections[i].Node, other, rnd)
	}
	return &out
}

// plainly are the modifiers under which any text is a sound value.
const plainly = ast.Modifiers(ast.Contains | ast.StartsWith | ast.EndsWith | ast.All | ast.Cased | ast.Neq)

func editedNode(n *ast.Node, other []ast.Value, rnd *rand.Rand) *ast.Node {
	c := *n
	c.Nodes, c.Items = slices.Clone(n.Nodes), slices.Clone(n.Items)
	for i := range c.Nodes {
		c.Nodes[i] = editedNode(c.Nodes[i], other, rnd)
	}
	for i := range c.Items {
		it := &c.Items[i]
		if it.Modifiers&^plainly != 0 || len(it.Values) == 0 || it.Values[0].Kind != ast.String {
			continue
		}
		it.Values = slices.Clone(it.Values)
		switch rnd.IntN(5) {
		case 0:
			if !it.Modifiers.Has(ast.All) || len(it.Values) > 2 {
				it.Values = it.Values[1:]
			}
		case 1:
			it.Values = append(it.Values, other...)
		case 2:
			it.Values[rnd.IntN(len(it.Values))] = ast.StringValue(fmt.Sprintf("new-%d", rnd.IntN(5)))
		case 3:
			it.Values = append(it.Values, ast.StringValue(fmt.Sprintf("*w?%d*", rnd.IntN(5))), ast.StringValue("e"))
		}
		if len(it.Values) == 0 {
			it.Values = []ast.Value{ast.StringValue("x")}
		}
	}
	return &c
}

// someValues are strings that a rule has.
func someValues(r *ast.Rule, rnd *rand.Rand) (out []ast.Value) {
	for i := range r.Detections {
		r.Detections[i].Node.Walk(func(n *ast.Node) bool {
			for k := range n.Items {
				for _, v := range n.Items[k].Values {
					if v.Kind == ast.String && n.Items[k].Modifiers&^plainly == 0 && rnd.IntN(2) == 0 {
						out = append(out, v)
					}
				}
			}
			return true
		})
	}
	return out
}

// A set that takes over what did not change answers as one that is compiled from nothing,
// also after many changes.
func TestARenewedSetAnswersLikeACompiledOne(t *testing.T) {
	c, err := load.Load(t.Context(), []string{sigmatest.RuleDir(t, "rules")}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var some, all [][]byte // events: of a round, and of the last one
	for _, lane := range sigmatest.Lanes() {
		lines := sigmatest.Lane(t, lane)
		step := max(len(lines)/150, 1)
		for i := 0; i < len(lines); i += step {
			some = append(some, lines[i])
		}
		all = append(all, lines...)
	}
	rounds := 8
	if testing.Short() || sigmatest.Watched { // one goroutine does it all, so there are no races in more of it
		rounds, all = 3, some
	}
	for _, tc := range []struct {
		name string
		o    Options
	}{
		{"every rule on every event", Options{MatchDetail: result.Full}},
		{"with routes", Options{Routing: DefaultRouting(), MatchDetail: result.Summary}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			rules := slices.Clone(c.Rules)
			set, err := Compile(rules, tc.o)
			if err != nil {
				t.Fatal(err)
			}
			set.indexes.after = 64
			laneResults(t, set.NewWorker(), some)
			renewed, grown := 0, len(set.plan.Preds)
			for round := range rounds {
				lines := some
				if round == rounds-1 {
					lines = all
				}
				changes := map[int]Change{}
				for range 1 + rnd.IntN(40) {
					i := rnd.IntN(len(rules))
					changes[i] = Change{Index: i, Before: rules[i], After: edited(rules[i], someValues(rules[rnd.IntN(len(rules))], rnd), rnd)}
				}
				for i, x := range changes {
					rules[i] = x.After
				}
				want, err := Compile(rules, tc.o)
				if err != nil {
					t.Fatal(err)
				}
				next, ok := set.Renew(slices.Collect(maps.Values(changes)))
				if !ok {
					set = want
					set.indexes.after = 64
					continue
				}
				renewed++
				w, expected := next.NewWorker(), laneResults(t, want.NewWorker(), lines)
				for pass := range 2 { // first without the indexes of routes, then with them
					got := laneResults(t, w, lines)
					if !bytes.Equal(got, expected) {
						t.Fatalf("round %d, pass %d: %s", round, pass, firstDifference(got, expected))
					}
				}
				set = next
			}
			if renewed < rounds-2 {
				t.Errorf("%d of %d sets were renewed", renewed, rounds)
			}
			if now := len(set.plan.Preds); now > grown+grown/4 {
				t.Errorf("the set has grown from %d to %d predicates", grown, now)
			}
		})
	}
}

func firstDifference(got, want []byte) string {
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("result %d is\n%s\nwant\n%s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d results, want %d", len(a), len(b))
}
