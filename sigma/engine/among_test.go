package engine_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
	"github.com/sluicehq/sluice/sigma/result"
)

// nativeLines are the results of events, each on a line.
func nativeLines(t *testing.T, rules string, events [][]byte) []byte {
	t.Helper()
	c := load.FromBytes("r.yml", []byte(rules), load.Options{})
	for _, p := range c.Problems() {
		t.Fatal(p)
	}
	set, err := engine.Compile(c.Rules, engine.Options{MatchDetail: result.Summary})
	if err != nil {
		t.Fatal(err)
	}
	w := set.NewWorker()
	var ev engine.Events
	var batch result.Batch
	var out []byte
	for _, e := range events {
		if err := w.DecodeJSON(&ev, e); err != nil {
			t.Fatalf("%s: %v", e, err)
		}
	}
	for i := range ev.Len() {
		n := batch.Len()
		w.Evaluate(&ev, i, 0, &batch)
		for ; n < batch.Len(); n++ {
			out = fmt.Appendf(out, "%d %s\n", i, batch.At(n).Rule.Title)
		}
	}
	return out
}

// A long list of one item means what many short ones mean, one of which has to hold.
func TestALongListIsManyShortOnes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"evil", "Mal", "a", "ab", "é", "Ünder", `c:\x`, "x y", "1", "22", "-", "q", "4624"}
	word := func() string {
		s := ""
		for range 1 + rnd.IntN(3) {
			s += pieces[rnd.IntN(len(pieces))]
		}
		return s
	}
	address := func() string {
		switch rnd.IntN(8) {
		case 0:
			return fmt.Sprintf("2001:DB8:%x::1", rnd.IntN(30))
		case 1:
			return fmt.Sprintf("::ffff:10.%d.0.1", rnd.IntN(30))
		case 2:
			return []string{"10.0.0", "fe80::1%eth0", "", "10.0.0.256", "x"}[rnd.IntN(5)]
		}
		return fmt.Sprintf("10.%d.%d.1", rnd.IntN(30), rnd.IntN(4))
	}
	network := func() string {
		switch rnd.IntN(4) {
		case 0:
			return fmt.Sprintf("2001:db8:%x::/48", rnd.IntN(30))
		case 1:
			return fmt.Sprintf("::ffff:10.%d.0.0/112", rnd.IntN(30))
		}
		return fmt.Sprintf("10.%d.%d.0/%d", rnd.IntN(30), rnd.IntN(4), 22+rnd.IntN(4))
	}
	var events [][]byte
	for range 500 {
		value := word()
		switch rnd.IntN(4) {
		case 0:
			value = strings.ToUpper(value)
		case 1:
			value += word()
		}
		events = append(events, fmt.Appendf(nil, `{"A":%q,"N":{"B":[%q,"z"]},"L":[{"m":%q},{"m":"zz"},{"ip":%q}],"num":%d,"ip":%q}`, value, word(), word(), address(), rnd.IntN(100), address()))
	}
	events = append(events, []byte(`{"A":""}`), []byte(`{"A":null}`), []byte(`{}`), []byte(`{"A":[]}`))
	for _, tc := range []struct {
		name, key string
		wildcards bool
		join      string // of short lists
	}{
		{"equal texts", "A", false, "or"},
		{"beginnings", "A|startswith", false, "or"},
		{"ends", "A|endswith", false, "or"},
		{"parts", "A|contains", false, "or"},
		{"texts as they are", "A|cased", false, "or"},
		{"parts as they are", "A|contains|cased", false, "or"},
		{"none of the texts", "A|neq", false, "and"},
		{"none of the parts", "A|contains|neq", false, "and"},
		{"with wildcards among them", "A", true, "or"},
		{"an element of an array", "N.B", false, "or"},
		{"an element by its position", "N.B[0]|contains", false, "or"},
		{"a member of an array block", "L[any].m", false, "or"},
		{"numbers compared as texts", "num", false, "or"},
		{"dashes of any kind", "A|windash|contains", false, "or"},
		{"parts of encoded texts", "A|base64offset|contains", false, "or"},
		{"keywords", "", false, "or"},
		{"networks", "ip|cidr", false, "or"},
		{"no network", "ip|cidr|neq", false, "and"},
		{"networks of a member of an array block", "L[any].ip|cidr", false, "or"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var values []string
			for i := range 300 {
				v := word()
				if tc.wildcards && i%7 == 0 {
					v = "*" + v + "?"
				}
				if i%5 == 0 && tc.key == "num" {
					v = fmt.Sprint(rnd.IntN(100))
				}
				if strings.Contains(tc.key, "cidr") {
					v = network()
				}
				values = append(values, "'"+v+"'")
			}
			if !strings.Contains(tc.key, "cidr") && !strings.Contains(tc.key, "base64") && tc.key != "" {
				values = append(values, "''")
			}
			item := func(list []string) string {
				if tc.key == "" {
					return "[" + strings.Join(list, ", ") + "]"
				}
				return "{'" + tc.key + "': [" + strings.Join(list, ", ") + "]}"
			}
			long := "title: T\nsigma-version: 3\ndetection:\n  s: " + item(values) + "\n  condition: s\n"
			short, names := "title: T\nsigma-version: 3\ndetection:\n", []string{}
			for part := range slices.Chunk(values, 20) {
				names = append(names, fmt.Sprintf("s%d", len(names)))
				short += "  " + names[len(names)-1] + ": " + item(part) + "\n"
			}
			short += "  condition: " + strings.Join(names, " "+tc.join+" ") + "\n"
			got, want := nativeLines(t, long, events), nativeLines(t, short, events)
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if len(want) == 0 {
				t.Error("no event meets the rule")
			}
		})
	}
}

// A rule tells of a long list what it tells of a short one.
func TestWhatALongListShows(t *testing.T) {
	text := func(n int) string {
		return "title: T\ndetection:\n  s: {A: " + list(n, func(i int) string { return fmt.Sprintf("Value%03d", i) }) + "}\n  condition: s\n"
	}
	show := func(n int) string {
		c := load.FromBytes("r.yml", []byte(text(n)), load.Options{})
		set, err := engine.Compile(c.Rules, engine.Options{MatchDetail: result.Full})
		if err != nil {
			t.Fatal(err)
		}
		w := set.NewWorker()
		var ev engine.Events
		var batch result.Batch
		if err := w.DecodeJSON(&ev, []byte(`{"A":"value007"}`)); err != nil {
			t.Fatal(err)
		}
		w.Evaluate(&ev, 0, 0, &batch)
		if batch.Len() != 1 {
			t.Fatalf("%d results", batch.Len())
		}
		return string(batch.At(0).AppendNative(nil, nil))
	}
	if got, want := show(5000), show(40); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// setOf compiles a rule whose field A has to have one of n values of a source.
func setOf(tb testing.TB, n int, modifier string) (*engine.Set, int) {
	tb.Helper()
	var json strings.Builder
	json.WriteByte('[')
	for i := range n {
		if i > 0 {
			json.WriteByte(',')
		}
		fmt.Fprintf(&json, `"host-%07d.ex"`, i*7)
	}
	json.WriteByte(']')
	p, err := pipeline.Parse([]byte("vars: {l: \"${source.l}\"}\ntransformations: [{type: value_placeholders}]\n"))
	if err != nil {
		tb.Fatal(err)
	}
	pipelines := &pipeline.Set{Pipelines: []*pipeline.Pipeline{p}}
	if pipelines, _, err = pipelines.Expand(map[string]pipeline.Value{"l": {JSON: []byte(json.String())}}, pipeline.ExpandOptions{}); err != nil {
		tb.Fatal(err)
	}
	c := load.FromBytes("r.yml", []byte("title: T\ndetection: {s: {A"+modifier+": '%l%', B: x}, condition: s}\n"), load.Options{Transform: pipelines.Apply})
	for _, p := range c.Problems() {
		tb.Fatal(p)
	}
	set, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return set, json.Len()
}

// evaluations decodes and evaluates events: with values of A that are among the first so
// many entries of the list, or with others, which hardly repeat, when there are none.
func evaluations(tb testing.TB, set *engine.Set, among int) func() time.Duration {
	tb.Helper()
	const events = 20_000
	w := set.NewWorker()
	var ev engine.Events
	var batch result.Batch
	rnd := rand.New(rand.NewPCG(5, 6))
	var lines [][]byte
	for range events {
		value := fmt.Sprintf("host-%07d.ey", rnd.IntN(7_000_000))
		if among > 0 {
			value = fmt.Sprintf("host-%07d.ex", rnd.IntN(among)*7)
		}
		lines = append(lines, fmt.Appendf(nil, `{"A":"%s","B":"x","CommandLine":"c:\\windows\\system32\\svchost.exe -k netsvcs -p","EventID":1,"User":"NT AUTHORITY\\SYSTEM","ProcessId":"2164","Message":"some text that nobody asks for"}`, value))
	}
	return func() time.Duration {
		begin := sigmatest.ProcessorTime()
		for _, line := range lines {
			ev.Reset()
			if err := w.DecodeJSON(&ev, line); err != nil {
				tb.Fatal(err)
			}
			w.Evaluate(&ev, 0, 0, &batch)
			batch.Truncate(0)
		}
		return sigmatest.ProcessorTime() - begin
	}
}

func BenchmarkAmong(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		for _, hit := range []bool{true, false} {
			b.Run(fmt.Sprintf("%d entries, hit %v", n, hit), func(b *testing.B) {
				set, _ := setOf(b, n, "")
				w := set.NewWorker()
				var ev engine.Events
				var batch result.Batch
				line := []byte(`{"A":"host-0000007.ex","B":"x"}`)
				if !hit {
					line = []byte(`{"A":"host-0000007.ey","B":"x"}`)
				}
				if err := w.DecodeJSON(&ev, line); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					w.Evaluate(&ev, 0, 0, &batch)
					batch.Truncate(0)
				}
			})
		}
	}
}

// The size of a list does not show in what an event costs.
func TestALongListCostsAnEventWhatAShortOneDoes(t *testing.T) {
	sigmatest.Plainly(t)
	short, _ := setOf(t, 10, "")
	long, _ := setOf(t, 100_000, "")
	for _, tc := range []struct {
		name        string
		short, long int     // entries that events have values of
		most        float64 // of the quickest of several runs in turn; what grows with the list is beyond 100
	}{
		{"values that are in no list", 0, 0, 2},
		{"values that are in both lists", 10, 10, 1.5},
		{"values all over the lists, of which no memory nearby has the long one", 10, 100_000, 10},
	} {
		ten, hundredThousand := evaluations(t, short, tc.short), evaluations(t, long, tc.long)
		var a, b []time.Duration
		for range 15 {
			a, b = append(a, ten()), append(b, hundredThousand())
		}
		ratio := float64(slices.Min(b)) / float64(slices.Min(a))
		t.Logf("%s: 20000 events take %s with 10 entries, %s with 100000: %.2f times as much", tc.name, slices.Min(a), slices.Min(b), ratio)
		if ratio > tc.most {
			t.Errorf("%s: 100000 entries cost %.2f times what 10 do, want at most %.1f", tc.name, ratio, tc.most)
		}
	}
}

// What a list takes is in proportion to its text.
func TestAMillionEntriesLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a gigabyte")
	}
	const most = 40 // bytes of memory for a byte of the list
	entries := sigmatest.Rounds(1_000_000)
	for _, modifier := range []string{"", "|endswith"} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := sigmatest.ProcessorTime()
		set, size := setOf(t, entries, modifier)
		took := sigmatest.ProcessorTime() - begin
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		runtime.GC()
		runtime.ReadMemStats(&after)
		t.Logf("A%s: %d entries of %d MB take %s of processor time; %d MB are allocated and %d MB kept, %.1f times the list",
			modifier, entries, size>>20, took, allocated>>20, (after.HeapAlloc-before.HeapAlloc)>>20, float64(after.HeapAlloc-before.HeapAlloc)/float64(size))
		if kept := after.HeapAlloc - before.HeapAlloc; kept > most*uint64(size) || allocated > 2*most*uint64(size) {
			t.Errorf("A%s: %d bytes allocate %d and keep %d, want at most %d times", modifier, size, allocated, kept, most)
		}
		runtime.KeepAlive(set)
	}
}
