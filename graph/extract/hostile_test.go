package extract_test

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph/extract"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

// list is an array of so many small objects.
func list(n int) []byte {
	return []byte("[" + strings.TrimSuffix(strings.Repeat(`{"ip":"10.0.0.1","s":7},`, n), ",") + "]")
}

// deep is a value of many levels, with a small object in each.
func deep(n int) []byte {
	levels := strings.Repeat(`[{"ip":"10.0.0.1","s":7},`, 120) + "0" + strings.Repeat("]", 120)
	return []byte("[" + strings.TrimSuffix(strings.Repeat(levels+",", max(1, n/120)), ",") + "]")
}

// valueFor is what a hostile program runs over.
func valueFor(l extract.Language, n int) []byte {
	if l == extract.JSONPath {
		return deep(n)
	}
	return list(n)
}

// hostile are programs that would run for ever or use up the memory.
var hostile = []struct {
	name    string
	l       extract.Language
	program string
}{
	{"jq without an end", extract.JQ, "def f: f; f"},
	{"jq that repeats", extract.JQ, "[repeat(1)]"},
	{"jq that catches what ends it", extract.JQ, "def f: (try f catch f), f; f"},
	{"jq that recurses", extract.JQ, "def f: 1 + f; f"},
	{"jq that recurses in two arms", extract.JQ, "def f: f, f; f"},
	{"jq with a long range", extract.JQ, "[range(1e12)]"},
	{"jq that nests", extract.JQ, "last(0 | recurse({a: .}))"},
	{"jq with a text that explodes", extract.JQ, `"a" * 1e9`},
	{"jq with a list that doubles", extract.JQ, "reduce range(60) as $i ([0]; . + .)"},
	{"jq with all pairs", extract.JQ, "[.[] as $a | .[] as $b | [$a, $b]]"},
	{"jq with outputs without an end", extract.JQ, `repeat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")`},
	{"jq with a product of lists", extract.JQ, ". - (. + [1])"},
	{"JSONPath with descendants of descendants", extract.JSONPath, "$..*..*..*..*..*"},
	{"JSONPath with deep filters", extract.JSONPath, "$..[?@..[?@..[?@..x]]]"},
	{"JSONPath with a filter over the root", extract.JSONPath, "$..[?count($..*) < count(@..*)]"},
	{"CEL with comprehensions within each other", extract.CEL, "data.all(a, data.all(b, data.all(c, a.s + b.s + c.s > 0)))"},
	{"CEL with all pairs", extract.CEL, "data.map(a, data.map(b, [a, b]))"},
	{"CEL with a list that doubles", extract.CEL, "[data]" + strings.Repeat(".map(x, x + x)", 30)},
	{"CEL with a tower", extract.CEL, "[data]" + strings.Repeat(".map(x, [x, x])", 30)},
	{"CEL with a text that doubles", extract.CEL, "['aaaaaaaa']" + strings.Repeat(".map(x, x + x)", 30)},
	{"CEL that compares all with all", extract.CEL, "data.all(a, data.all(b, data == data))"},
}

// Whatever a program does, it ends by its steps or its deadline and within bounded memory.
func TestHostileProgramsEnd(t *testing.T) {
	sigmatest.Plainly(t)
	for _, tc := range hostile {
		t.Run(tc.name, func(t *testing.T) {
			p, err := extract.Compile(tc.l, tc.program)
			if err != nil {
				t.Fatal(err)
			}
			p.Allow(1_000_000)
			if out, ok, err := p.Run(context.Background(), valueFor(tc.l, 1000), 64<<20); ok || out != nil || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, extract.ErrLimit) {
				t.Errorf("got %.100s, %t, %v", out, ok, err)
			}
			// It is as good as new.
			if _, _, err := p.Run(context.Background(), []byte(`[]`), 1<<20); err != nil && strings.Contains(err.Error(), "library failed") {
				t.Errorf("the next run: %v", err)
			}
		})
	}
}

// A run looks at its context, also when it has steps left for a long time.
func TestTheContextEndsARun(t *testing.T) {
	for _, tc := range hostile {
		if strings.Contains(tc.name, "double") || strings.Contains(tc.name, "tower") || strings.Contains(tc.name, "explode") || strings.Contains(tc.name, "compares") {
			continue // another bound may be nearer
		}
		t.Run(tc.name, func(t *testing.T) {
			p, err := extract.Compile(tc.l, tc.program)
			if err != nil {
				t.Fatal(err)
			}
			ctx := &countdown{Context: context.Background(), left: 2, done: make(chan struct{})}
			if _, ok, err := p.Run(ctx, valueFor(tc.l, 100_000), 64<<20); ok || !errors.Is(err, context.Canceled) {
				t.Errorf("got %t, %v", ok, err)
			}
			if ctx.left > 0 {
				t.Error("the run did not look at its context")
			}
		})
	}
}

// countdown is a context that is canceled when it has been looked at so many times.
type countdown struct {
	context.Context
	left int
	done chan struct{}
}

func (c *countdown) Err() error {
	if c.left--; c.left == 0 {
		close(c.done)
	}
	if c.left <= 0 {
		return context.Canceled
	}
	return nil
}

func (c *countdown) Done() <-chan struct{} {
	_ = c.Err()
	return c.done
}

// A canceled context runs nothing.
func TestACanceledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, l := range extract.Languages() {
		program := map[extract.Language]string{extract.JQ: ".", extract.JSONPath: "$", extract.CEL: "data"}[l]
		p, err := extract.Compile(l, program)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok, err := p.Run(ctx, []byte("1"), 10); ok || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %t, %v", l, ok, err)
		}
	}
}

// BenchmarkHostile prints how long hostile programs take over a value of 10 MiB under a
// deadline, by how much they miss that, and how much memory they hold at most.
func BenchmarkHostile(b *testing.B) {
	const deadline = 2 * time.Second
	for _, tc := range hostile {
		b.Run(tc.name, func(b *testing.B) {
			p, err := extract.Compile(tc.l, tc.program)
			if err != nil {
				b.Fatal(err)
			}
			value := valueFor(tc.l, 10<<20/24)
			for b.Loop() {
				debug.FreeOSMemory()
				stop, peak := make(chan struct{}), make(chan uint64)
				go watch(stop, peak)
				ctx, cancel := context.WithTimeout(context.Background(), deadline)
				_, _, err := p.Run(ctx, value, 64<<20)
				cancel()
				close(stop)
				b.ReportMetric(float64(<-peak)/(1<<20), "peak-MiB")
				b.Logf("%v", err)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/run")
		})
	}
}

// watch reports the largest heap that it has seen.
func watch(stop chan struct{}, peak chan uint64) {
	var m runtime.MemStats
	var most uint64
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapInuse)
		select {
		case <-stop:
			peak <- most
			return
		case <-tick.C:
		}
	}
}
