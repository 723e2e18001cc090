package engine

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// hostile writes events of any size whose values meet each other: names of the random
// rules with texts of one letter, of every length, of common beginnings and ends, in
// arrays, below objects and under repeated keys. The same seed and size give the same
// event, and a larger size more of the same.
type hostile struct {
	rng  *rand.Rand
	size int // of a value, about
}

var hostileNames = []string{"A", "B", "C", "c", "n", "x", "a b", "EventID", "a.b", "x.y", "a.b.c"}

func (h *hostile) event() string {
	members := make([]string, 0, len(hostileNames))
	for _, name := range hostileNames {
		if h.rng.IntN(4) > 0 {
			members = append(members, fmt.Sprintf("%q:%s", name, h.value(2)))
		}
	}
	if h.rng.IntN(2) == 0 {
		members = append(members, `"a":`+h.below("b"), `"x":`+h.below("y"))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// below is an array of objects with a key.
func (h *hostile) below(key string) string {
	var b strings.Builder
	unit := h.rng.IntN(3)
	for b.Len() < h.size {
		fmt.Fprintf(&b, `,{%q:%s}`, key, []string{`"foo"`, fmt.Sprintf(`"foo%d"`, b.Len()), `[1,"ab"]`}[unit])
	}
	return "[" + strings.TrimPrefix(b.String(), ",") + "]"
}

func (h *hostile) value(depth int) string {
	letter := []string{"a", "b", "ab", "é", `\\`, "foo"}[h.rng.IntN(6)]
	var b strings.Builder
	array := func(element func(i int) string) string {
		for i := 0; b.Len() < h.size; i++ {
			b.WriteByte(',')
			b.WriteString(element(i))
		}
		return "[" + strings.TrimPrefix(b.String(), ",") + "]"
	}
	switch h.rng.IntN(10) {
	case 0:
		return `"` + strings.Repeat(letter, h.size/len(letter)) + `"`
	case 1:
		return array(func(i int) string { return fmt.Sprintf(`"%s%06d"`, letter, i) })
	case 2:
		return array(func(i int) string { return fmt.Sprintf(`"%06d%s"`, i, letter) })
	case 3: // the lengths grow: about the root of the size of them
		return array(func(i int) string { return `"` + strings.Repeat(letter, i/len(letter)+1) + `"` })
	case 4:
		return array(func(i int) string { return fmt.Sprint(i) })
	case 5:
		return array(func(int) string { return `""` })
	case 6:
		return array(func(i int) string { return fmt.Sprintf(`{"p":"%s%d","q":[%d,"x"]}`, letter, i, i) })
	case 7:
		return array(func(i int) string { return []string{"null", "{}", "[]", "true", `{"a":1.0}`}[i%5] })
	case 8:
		if depth > 0 {
			h.size /= 2
			defer func() { h.size *= 2 }()
			return "[" + h.value(depth-1) + "," + h.value(depth-1) + "]"
		}
	}
	return `"foo"`
}

func (h *hostile) pick(from ...string) string { return from[h.rng.IntN(len(from))] }

func (h *hostile) name() string { return h.pick(hostileNames...) }

// rules are rules that compare values of the event with each other, and some of every
// other kind.
func (h *hostile) rules(n int) string {
	var b strings.Builder
	for i := range n {
		detection := h.pick("{"+h.item()+"}", "{"+h.item()+"}", "{'"+h.name()+h.pick("[any]", "[all]", "[none]")+"': {"+h.member("p")+", "+h.member("'.")+"}}", h.keywords())
		fmt.Fprintf(&b, "---\ntitle: Rule %d\nsigma-version: 3\ndetection:\n  sel: %s\n  condition: %s\n", i, detection, h.pick("sel", "not sel"))
	}
	return b.String()[len("---\n"):]
}

func (h *hostile) keywords() string {
	return h.pick("[foo, a]", "['|re': 'a+b']", "['a*b*a']", "{'|all': [a, 'é']}", "{'|contains|neq': [ab, foo]}")
}

// item is an item of the whole event, or of every member of an array.
func (h *hostile) item() string {
	return h.of("'" + h.pick(h.name(), h.name(), h.name()+"[any]", h.name()+"[none]", h.name()+"[any].p", h.name()+"[0]"))
}

// member is an item of a member.
func (h *hostile) member(field string) string { return h.of("'" + strings.TrimPrefix(field, "'")) }

func (h *hostile) of(field string) string {
	mods := h.pick("", "|contains", "|startswith", "|endswith")
	cased := h.pick("", "|cased")
	switch h.rng.IntN(10) {
	case 0, 1, 2:
		return fmt.Sprintf("%s|fieldref%s%s%s': '%s'", field, mods, cased, h.pick("", "|neq"), h.name())
	case 3, 4, 5, 6:
		template := ""
		for range 1 + h.rng.IntN(4) {
			template += h.pick("", "x", `C:\`, "a") + "%" + h.name() + "%" + h.pick("", "-", "b")
		}
		return fmt.Sprintf("%s|expand%s%s%s': '%s'", field, mods, cased, h.pick("", "|neq"), template)
	case 7:
		return field + "|re': '" + h.pick("(a|b)*c", "a.*b.*a", "^(foo|a)+$", `\d{4}x`) + "'"
	case 8:
		return field + h.pick("|gt': 5", "|exists': true", "': null", "|cidr': 10.0.0.0/8", "|hour': 3", "': true", "': 4688")
	}
	return field + mods + cased + "': [foo, '" + h.pick("a", "ab*b", "é", "x?y*") + "']"
}

// spent is what the evaluation of an event costs by rules that were seen before.
func spent(tb testing.TB, set *Set, line []byte) cost {
	tb.Helper()
	w := set.NewWorker()
	var ev Events
	var out result.Batch
	evaluate := func(line []byte) {
		ev.Reset()
		if err := w.DecodeJSON(&ev, line); err != nil {
			tb.Fatalf("%.200s: %v", line, err)
		}
		w.Evaluate(&ev, 0, 0, &out)
	}
	evaluate([]byte(`{}`))
	var before, after runtime.MemStats
	steps := w.references.finder.Steps + w.machines.Steps()
	runtime.ReadMemStats(&before)
	evaluate(line)
	runtime.ReadMemStats(&after)
	return cost{w.references.finder.Steps + w.machines.Steps() - steps, after.TotalAlloc - before.TotalAlloc, uint64(out.Len())}
}

// Bounds of the cost of an event, for each of its bytes and each predicate of the rules.
const (
	stepsPerByte = 20
	bytesPerByte = 60
	bytesForFree = 1 << 20
)

// checkBudget fails when an event costs more than its size allows, or an event of eight
// times the size more than its share.
func checkBudget(t *testing.T, seed uint64, rules int) {
	t.Helper()
	h := hostile{rng: rand.New(rand.NewPCG(seed, 3))}
	yaml := h.rules(rules)
	collection := load.FromBytes("random.yml", []byte(yaml), load.Options{})
	for _, rejected := range collection.Rejected {
		t.Fatalf("%+v\n%s", rejected, yaml)
	}
	set, err := Compile(collection.Rules, Options{
		MatchDetail: result.Detail(seed % 3), IncludeEvent: seed%5 == 0, ResultTime: seed%7 == 0,
	})
	if err != nil {
		t.Fatal(err)
	}
	var costs [2]cost
	var sizes [2]uint64
	for i, size := range []int{2 << 10, 16 << 10} {
		h := hostile{rand.New(rand.NewPCG(seed, 2)), size}
		line := h.event()
		costs[i], sizes[i] = spent(t, set, []byte(line)), uint64(len(line))
		preds := uint64(len(set.plan.Preds)) + 1
		if limit := stepsPerByte * preds * sizes[i]; costs[i].steps > limit {
			t.Errorf("seed %d: %d steps for an event of %d bytes and %d predicates, want at most %d\n%s", seed, costs[i].steps, sizes[i], preds, limit, yaml)
		}
		if limit := bytesForFree + bytesPerByte*preds*sizes[i]; costs[i].allocated > limit {
			t.Errorf("seed %d: %d bytes allocated for an event of %d bytes and %d predicates, want at most %d\n%s", seed, costs[i].allocated, sizes[i], preds, limit, yaml)
		}
	}
	if limit := 2*costs[0].steps*sizes[1]/sizes[0] + stepsPerByte*sizes[1]; costs[1].steps > limit {
		t.Errorf("seed %d: %d steps for %d bytes, but %d for %d; want at most %d\n%s", seed, costs[0].steps, sizes[0], costs[1].steps, sizes[1], limit, yaml)
	}
	if limit := 2*costs[0].allocated*sizes[1]/sizes[0] + bytesForFree + bytesPerByte*sizes[1]; costs[1].allocated > limit {
		t.Errorf("seed %d: %d bytes allocated for %d bytes, but %d for %d; want at most %d\n%s",
			seed, costs[0].allocated, sizes[0], costs[1].allocated, sizes[1], limit, yaml)
	}
}

// Rules and events of bounded size are made of a seed: what they cost is counted, never
// timed.
func FuzzAnEventCostsNoMoreThanItsSize(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, rules uint8) { checkBudget(t, seed, 1+int(rules%8)) })
}

func TestEventsCostNoMoreThanTheirSize(t *testing.T) {
	n := sigmatest.Rounds(400)
	if testing.Short() {
		n = 40
	}
	for seed := range uint64(n) {
		checkBudget(t, seed, 1+int(seed%8))
	}
}
