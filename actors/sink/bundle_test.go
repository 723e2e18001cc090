package sink

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/sluicehq/sluice/graph"
)

// lined is a script that is told of lines, too.
type lined struct {
	*script
	lines []string // what came as lines
}

func (l *lined) WriteLines(ctx context.Context, messages []graph.Message, lines []byte) (int, error) {
	l.lines = append(l.lines, string(lines))
	return l.Write(ctx, messages)
}

// bundle has a set for each of the bodies, which may be several words, and a receipt of
// which each set is a line. A body that begins with ! could not be written.
func bundle(receipt *graph.Receipt, from int, bodies ...string) *graph.Bundle {
	var sets []graph.Rendered
	var all []graph.Message
	var lines []byte
	b := new(graph.Bundle)
	b.Begin(1, nil)
	for i, words := range bodies {
		set := graph.Rendered{Token: receipt.Token(from + i), Messages: messages(strings.Fields(words)...)}
		for j := range set.Messages {
			m := &set.Messages[j]
			lines = append(append(lines, m.Body...), '\n')
			if strings.HasPrefix(string(m.Body), "!") {
				m.Fail(errors.New("no JSON"))
				b.Faulty = true
			}
		}
		sets, all = append(sets, set), append(all, set.Messages...)
	}
	b.Extend(sets, all, lines)
	return b
}

func TestBundles(t *testing.T) {
	down, full := errors.New("disk full"), permanent{errors.New("too large")}
	for _, tc := range []struct {
		name    string
		kind    Kind
		bundles [][]string
		answers []answer
		want    []string // bodies
		lines   []string
		letters []string // the original events in them
		retries float64
		calls   int
	}{
		{name: "a bundle is one write of its lines", kind: KindFile, bundles: [][]string{{"a", "b c", "d"}}, want: []string{"a", "b", "c", "d"}, lines: []string{"a\nb\nc\nd\n"}, calls: 1},
		{name: "small bundles that wait are one write", kind: KindFile, bundles: [][]string{{"a"}, {"b"}, {"c d"}}, want: []string{"a", "b", "c", "d"}, calls: 1},
		{name: "item by item where batches are no units", kind: KindStdout, bundles: [][]string{{"a", "b c"}}, want: []string{"a", "b", "c"}, calls: 2},
		{
			name: "a bundle that is confirmed in part goes on behind that", kind: KindFile, bundles: [][]string{{"a", "b c", "d"}},
			answers: []answer{{take: 2, err: down}}, want: []string{"a", "b", "c", "d"}, lines: []string{"a\nb\nc\nd\n"}, retries: 1, calls: 2,
		},
		{
			name: "what is confirmed of a bundle is no dead letter", kind: KindFile, bundles: [][]string{{"a", "b c", "d"}},
			answers: append([]answer{{take: 2, err: down}}, always(down, 3)...), want: []string{"a", "b"}, lines: []string{"a\nb\nc\nd\n"},
			letters: []string{`[c]`, `[d]`}, retries: 3, calls: 4,
		},
		{
			name: "a permanent error costs one result of a bundle", kind: KindFile, bundles: [][]string{{"a", "b c", "d"}},
			answers: []answer{{take: 1, err: full}}, want: []string{"a", "c", "d"}, lines: []string{"a\nb\nc\nd\n"}, letters: []string{`[b]`}, calls: 2,
		},
		{
			name: "a message that could not be written costs nothing else", kind: KindFile, bundles: [][]string{{"a", "!b c", "d"}},
			want: []string{"a", "c", "d"}, letters: []string{`[]`}, calls: 2,
		},
		{
			name: "a set that panics twice is taken out of its bundle", kind: KindFile, bundles: [][]string{{"a", "b", "c"}},
			answers: []answer{{panic: "boom"}, {panic: "boom"}}, want: []string{"b", "c"}, lines: []string{"a\nb\nc\n"}, letters: []string{`[a]`}, calls: 3,
		},
		{
			name: "a short write without an error is tried again", kind: KindFile, bundles: [][]string{{"a", "b"}},
			answers: []answer{{take: 1}}, want: []string{"a", "b"}, lines: []string{"a\nb\n"}, retries: 1, calls: 2,
		},
		{
			name: "a remark beside all of a bundle ends it", kind: KindFile, bundles: [][]string{{"a", "b"}},
			answers: []answer{{take: 2, err: errors.New("1 of 2 too old")}}, want: []string{"a", "b"}, lines: []string{"a\nb\n"}, calls: 1,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, dead := &lined{script: &script{t: t, answers: slices.Clone(tc.answers), begin: time.Now()}}, &script{t: t, begin: time.Now()}
				r := newRigOver(t, tc.kind, out, dead)
				sets := 0
				for _, bodies := range tc.bundles {
					sets += len(bodies)
				}
				receipt := graph.NewReceipt(sets, func() {})
				var all []*graph.Bundle
				from := 0
				for _, bodies := range tc.bundles {
					all = append(all, bundle(receipt, from, bodies...))
					from += len(bodies)
				}
				r.sink.Lane().TryPut(all)
				time.Sleep(time.Minute)
				synctest.Wait()
				if !slices.Equal(out.got, tc.want) || !slices.Equal(out.lines, tc.lines) || len(out.calls) != tc.calls {
					t.Errorf("the destination got %q in %d writes, of them %q as lines, want %q in %d, %q", out.got, len(out.calls), out.lines, tc.want, tc.calls, tc.lines)
				}
				if len(dead.got) != len(tc.letters) {
					t.Fatalf("dead letters %q, want those of %q", dead.got, tc.letters)
				}
				for i, letter := range tc.letters {
					if want := fmt.Sprintf(`{"original_event":"%s"`, letter); !strings.Contains(dead.got[i], want) {
						t.Errorf("dead letter %s, want one of %s", dead.got[i], letter)
					}
				}
				if got := value(t, r.metrics.retries.WithLabelValues("out")); got != tc.retries {
					t.Errorf("%g retries, want %g", got, tc.retries)
				}
				if receipt.Open() != 0 || receipt.Overdrawn() != 0 {
					t.Errorf("%d lines are open, %d settled too often", receipt.Open(), receipt.Overdrawn())
				}
			})
		})
	}
}

// What waits is first tried together, where one acknowledgement is for several batches. What
// that leaves is tried batch by batch, as often as any other batch.
func TestBatchesThatWaitAreTriedTogetherAtFirst(t *testing.T) {
	down, full := errors.New("disk full"), permanent{errors.New("too large")}
	all := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	for _, tc := range []struct {
		name    string
		kind    Kind
		answers []answer
		sizes   []int // of the writes
		want    []string
		letters []string
		retries float64
	}{
		{name: "all batches are one write", kind: KindNATS, sizes: []int{10}, want: all},
		{name: "a kind that acknowledges each batch has a write for each", kind: KindFile, sizes: []int{4, 4, 2}, want: all},
		{
			name: "a failure goes on with what is left, batch by batch", kind: KindNATS, answers: []answer{{take: 5, err: down}},
			sizes: []int{10, 4, 1}, want: all, retries: 1,
		},
		{
			name: "a failure of nothing confirmed, too", kind: KindNATS, answers: []answer{{err: down}},
			sizes: []int{10, 4, 4, 2}, want: all, retries: 1,
		},
		{
			name: "the retries of one batch are not those of the next", kind: KindNATS, answers: always(down, 4),
			sizes: []int{10, 4, 4, 4, 4, 2}, want: all[4:], letters: all[:4], retries: 3,
		},
		{
			name: "a permanent error costs one result", kind: KindNATS, answers: []answer{{take: 5, err: full}},
			sizes: []int{10, 3, 1}, want: append(slices.Clone(all[:5]), all[6:]...), letters: all[5:6],
		},
		{
			name: "a set that panics twice is taken out of them", kind: KindNATS, answers: []answer{{panic: "boom"}, {panic: "boom"}},
			sizes: []int{10, 1, 3, 4, 2}, want: all[1:], letters: all[:1],
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, dead := &sized{script: &script{t: t, answers: slices.Clone(tc.answers), begin: time.Now()}}, &script{t: t, begin: time.Now()}
				r := newRigOver(t, tc.kind, out, dead)
				receipt := graph.NewReceipt(len(all), func() {})
				r.sink.Lane().TryPut([]*graph.Bundle{bundle(receipt, 0, all[:4]...), bundle(receipt, 4, all[4:8]...), bundle(receipt, 8, all[8:]...)})
				time.Sleep(time.Minute)
				synctest.Wait()
				if !slices.Equal(out.sizes, tc.sizes) || !slices.Equal(out.got, tc.want) {
					t.Errorf("the destination got %q in writes of %v, want %q in %v", out.got, out.sizes, tc.want, tc.sizes)
				}
				if len(dead.got) != len(tc.letters) {
					t.Fatalf("dead letters %q, want those of %q", dead.got, tc.letters)
				}
				for i, letter := range tc.letters {
					if want := fmt.Sprintf(`{"original_event":"[%s]"`, letter); !strings.Contains(dead.got[i], want) {
						t.Errorf("dead letter %s, want one of %s", dead.got[i], letter)
					}
				}
				if got := value(t, r.metrics.retries.WithLabelValues("out")); got != tc.retries {
					t.Errorf("%g retries, want %g", got, tc.retries)
				}
				if receipt.Open() != 0 || receipt.Overdrawn() != 0 {
					t.Errorf("%d lines are open, %d settled too often", receipt.Open(), receipt.Overdrawn())
				}
			})
		})
	}
}

// sized is a script that remembers how many messages each write had.
type sized struct {
	*script
	sizes []int
}

func (s *sized) Write(ctx context.Context, messages []graph.Message) (int, error) {
	s.sizes = append(s.sizes, len(messages))
	return s.script.Write(ctx, messages)
}

func TestHowManyItemsAreTriedTogether(t *testing.T) {
	for _, tc := range []struct {
		name     string
		kind     Kind
		batchMax int
		want     int
	}{
		{"sixteen batches of the default size over NATS", KindNATS, 64, 1024},
		{"one batch over others", KindFile, 64, 64},
		{"no more than the bound", KindNATS, 100, 1024},
		{"a batch above the bound as it is", KindNATS, 5000, 5000},
		{"small batches", KindNATS, 2, 32},
		{"one item at a time stays one", KindNATS, 1, 1},
		{"nothing given is one item", KindNATS, 0, 1},
	} {
		if got := tc.kind.together(tc.batchMax); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestSetsOfABundleEndAsTheyAreConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("disk full")
		out := &lined{script: &script{t: t, answers: []answer{{take: 1, err: down}, {take: 1, err: down}}, begin: time.Now()}}
		r := newRigOver(t, KindFile, out, nil)
		receipt := graph.NewReceipt(3, func() {})
		r.sink.Lane().TryPut([]*graph.Bundle{bundle(receipt, 0, "a", "b", "c")})
		for i, after := range []time.Duration{50, 150, 250} { // between the attempts, as progress begins anew
			time.Sleep(after*time.Millisecond - time.Since(out.begin))
			if got := receipt.Open(); got != 2-i {
				t.Errorf("%d lines are open after attempt %d, want %d", got, i+1, 2-i)
			}
		}
	})
}

// Two bundles of many lines are two writes without a copy. What the first confirmed is
// delivered, whatever becomes of the second.
func TestABundleBehindAnotherFailsAlone(t *testing.T) {
	long := strings.Repeat("x", longLines)
	for _, tc := range []struct {
		name   string
		hangs  bool
		late   int // lines
		letter int
	}{
		{"its destination fails", false, 0, 1},
		{"its destination never returns", true, 1, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				down := answer{err: errors.New("disk full")}
				out := &lined{script: &script{t: t, answers: []answer{{take: 1}, down, down, down, down}, begin: time.Now()}}
				stuck := make(chan struct{})
				defer close(stuck)
				if tc.hangs {
					out.answers = []answer{{take: 1}, {stuck: stuck}}
				}
				dead := &script{t: t, begin: time.Now()}
				r := newRigOver(t, KindFile, out, dead)
				receipt := graph.NewReceipt(2, func() {})
				r.sink.Lane().TryPut([]*graph.Bundle{bundle(receipt, 0, "a"+long), bundle(receipt, 1, "b"+long)})
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				r.system.Drain(ctx)
				synctest.Wait()
				if len(dead.got) != tc.letter || !strings.Contains(dead.got[0], `"[b`) {
					t.Errorf("%d dead letters, want that of the second bundle: %.80q", len(dead.got), dead.got)
				}
				if len(out.lines) != 2 || receipt.Overdrawn() != 0 || int(r.sink.retrier.late.Load()) != tc.late {
					t.Errorf("%d writes of lines, %d settled too often, %d late; want 2, 0 and %d", len(out.lines), receipt.Overdrawn(), r.sink.retrier.late.Load(), tc.late)
				}
			})
		})
	}
}

// At the end of the drain, only what was being written counts as tried.
func TestWhatADrainEndsBeforeItsTurnWasNotTried(t *testing.T) {
	for _, tc := range []struct {
		kind Kind
		want []string
	}{
		{KindStdout, []string{`"attempts":1`, `"attempts":0`, `"attempts":0`}},
		{KindFile, []string{`"attempts":1`, `"attempts":1`, `"attempts":1`}}, // one write of all
	} {
		t.Run(string(tc.kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stuck := make(chan struct{})
				defer close(stuck)
				out := &lined{script: &script{t: t, answers: []answer{{stuck: stuck}}, begin: time.Now()}}
				dead := &script{t: t, begin: time.Now()}
				r := newRigOver(t, tc.kind, out, dead)
				r.sink.Lane().TryPut([]*graph.Bundle{bundle(graph.NewReceipt(3, func() {}), 0, "a", "b", "c")})
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				r.system.Drain(ctx)
				synctest.Wait()
				if len(dead.got) != len(tc.want) {
					t.Fatalf("dead letters %q, want %d", dead.got, len(tc.want))
				}
				for i, want := range tc.want {
					if !strings.Contains(dead.got[i], want) {
						t.Errorf("dead letter %s, want %s", dead.got[i], want)
					}
				}
			})
		})
	}
}

// A try at many batches is one of each: none is tried more often than a batch by itself.
func TestATryAtManyBatchesIsOneOfEach(t *testing.T) {
	down, full := errors.New("disk full"), permanent{errors.New("too large")}
	all := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	for _, tc := range []struct {
		name     string
		retries  int
		answers  []answer
		sizes    []int // of the writes
		want     []string
		letters  []string
		attempts string // of the letters
		retried  float64
	}{
		{
			name: "without retries all end at once", answers: always(down, 9), sizes: []int{10}, letters: all, attempts: "1111111111",
		},
		{
			name: "without retries what was taken of them is done", answers: []answer{{err: partly{down, []int{1, 5, 9}}}}, sizes: []int{10},
			letters: []string{"a", "c", "d", "e", "g", "h", "i"}, attempts: "1111111",
		},
		{
			name: "with retries each is tried once less by itself", retries: 2, answers: always(down, 99), sizes: []int{10, 4, 4, 4, 4, 2, 2},
			letters: all, attempts: "3333333333", retried: 4,
		},
		{
			name: "progress of one begins the attempts of all others anew", retries: 1, answers: append([]answer{{err: down}, {take: 1, err: down}}, always(down, 99)...),
			sizes: []int{10, 4, 3, 4, 4, 2, 2}, want: all[:1], letters: all[1:], attempts: "222222222", retried: 4,
		},
		{
			name: "what is done at once leaves the others as they are", retries: 1, answers: append([]answer{{take: 2, err: down}}, always(down, 99)...),
			sizes: []int{10, 4, 4}, want: all[:2], letters: all[2:], attempts: "22222222", retried: 1,
		},
		{
			name: "a message that is refused for ever is no try at the others", answers: []answer{{err: full}, {err: down}, {err: down}, {err: down}},
			sizes: []int{10, 3, 4, 2}, letters: all, attempts: "1111111111",
		},
		{
			name: "nor is a panic", answers: []answer{{panic: "boom"}, {err: down}, {err: down}, {err: down}},
			sizes: []int{10, 1, 4, 2}, letters: all, attempts: "1111111111",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, dead := &sized{script: &script{t: t, answers: slices.Clone(tc.answers), begin: time.Now()}}, &script{t: t, begin: time.Now()}
				r := newRigOver(t, KindNATS, out, dead)
				r.sink.retrier.retry.Max = tc.retries
				receipt := graph.NewReceipt(len(all), func() {})
				r.sink.Lane().TryPut([]*graph.Bundle{bundle(receipt, 0, all[:4]...), bundle(receipt, 4, all[4:8]...), bundle(receipt, 8, all[8:]...)})
				time.Sleep(time.Minute)
				synctest.Wait()
				if !slices.Equal(out.sizes, tc.sizes) || !slices.Equal(out.got, tc.want) {
					t.Errorf("the destination got %q in writes of %v, want %q in %v", out.got, out.sizes, tc.want, tc.sizes)
				}
				wantLetters(t, dead.got, tc.letters, tc.attempts)
				if got := value(t, r.metrics.retries.WithLabelValues("out")); got != tc.retried {
					t.Errorf("%g retries, want %g", got, tc.retried)
				}
				if got := value(t, r.metrics.failures.WithLabelValues("out")); got != float64(len(tc.letters)) {
					t.Errorf("%g failures, want %d", got, len(tc.letters))
				}
				if receipt.Open() != 0 || receipt.Overdrawn() != 0 {
					t.Errorf("%d lines are open, %d settled too often", receipt.Open(), receipt.Overdrawn())
				}
			})
		})
	}
}

// wantLetters are dead letters of results, with a digit for the attempts at each.
func wantLetters(t *testing.T, got, results []string, attempts string) {
	t.Helper()
	if len(got) != len(results) {
		t.Fatalf("dead letters %q, want those of %q", got, results)
	}
	for i, letter := range got {
		if !strings.Contains(letter, fmt.Sprintf(`{"original_event":"[%s]"`, results[i])) || !strings.Contains(letter, fmt.Sprintf(`"attempts":%c}`, attempts[i])) {
			t.Errorf("dead letter %s, want one of %s after %c attempts", letter, results[i], attempts[i])
		}
	}
}

// A destination that tells what it has when the drain is over tells it of all batches that
// were tried together: nothing of it becomes a dead letter.
func TestWhatWasTakenOfLaterBatchesIsDoneAtTheEndOfTheDrain(t *testing.T) {
	for _, tc := range []struct {
		name     string
		answers  []answer
		letters  []string
		attempts string
	}{
		{
			"of the first try",
			[]answer{{hang: true, err: partly{errors.New("no answer"), []int{2, 5, 6, 8, 9}}}},
			[]string{"a", "b", "d", "e", "h"},
			"11111",
		},
		{
			"of the first try, while the first batch is tried again",
			[]answer{{err: partly{errors.New("no answer"), []int{2, 5, 6, 8, 9}}}, {hang: true}},
			[]string{"a", "b", "c", "d", "e", "h"},
			"222211",
		},
		{
			"when one message was refused for ever",
			[]answer{{err: partly{permanent{errors.New("too large")}, []int{5}}}, {hang: true, err: partly{errors.New("no answer"), []int{1}}}},
			[]string{"a", "b", "d", "e", "g", "h", "i", "j"},
			"11111111",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, dead := &sized{script: &script{t: t, answers: tc.answers, begin: time.Now()}}, &script{t: t, begin: time.Now()}
				r := newRigOver(t, KindNATS, out, dead)
				all := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
				receipt := graph.NewReceipt(len(all), func() {})
				r.sink.Lane().TryPut([]*graph.Bundle{bundle(receipt, 0, all[:4]...), bundle(receipt, 4, all[4:8]...), bundle(receipt, 8, all[8:]...)})
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				r.system.Drain(ctx)
				synctest.Wait()
				wantLetters(t, dead.got, tc.letters, tc.attempts)
				if got := int(r.sink.retrier.late.Load()); got > len(tc.letters) || receipt.Overdrawn() != 0 {
					t.Errorf("%d items are late, %d lines are settled too often", got, receipt.Overdrawn())
				}
			})
		})
	}
}

// What a burst of large results took is given back, although what follows is small.
func TestABurstIsNotHeldByWhatFollows(t *testing.T) {
	for _, tc := range []struct {
		name    string
		answers []answer
	}{
		{"tried together", nil},
		{"tried batch by batch", []answer{{take: 2, err: errors.New("disk full")}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := &counting{script: script{t: t, answers: tc.answers}, some: make(chan struct{}, 1)}
			r := newRigOver(t, KindNATS, out, nil)
			r.sink.retrier.retry.Base = 0
			var bodies []weak.Pointer[byte]
			func() {
				var all []*graph.Bundle
				for range 2 { // as many as have room
					b := bundle(graph.NewReceipt(4, func() {}), 0, "a", "b", "c", "d")
					for i := range b.Messages {
						body := make([]byte, 1<<20)
						bodies = append(bodies, weak.Make(&body[0]))
						b.Messages[i].Body, b.Sets[i].Messages[0].Body = body, body
					}
					all = append(all, b)
				}
				r.sink.Lane().TryPut(all)
			}()
			out.wait(len(bodies))
			r.sink.Lane().TryPut([]*graph.Bundle{bundle(graph.NewReceipt(2, func() {}), 0, "x", "y")})
			out.wait(2)
			for begun := time.Now(); time.Since(begun) < time.Minute; { // the worker is about to end
				runtime.GC()
				bodies = slices.DeleteFunc(bodies, func(p weak.Pointer[byte]) bool { return p.Value() == nil })
				if len(bodies) == 0 {
					return
				}
				runtime.Gosched()
			}
			t.Errorf("%d bodies of the burst are held", len(bodies))
		})
	}
}

// counting is a script of which somebody waits for messages.
type counting struct {
	script
	some chan struct{}
	mu   sync.Mutex // guards n
	n    int
}

func (c *counting) Write(ctx context.Context, messages []graph.Message) (int, error) {
	n, err := c.script.Write(ctx, messages)
	c.got = nil
	c.mu.Lock()
	c.n += n
	c.mu.Unlock()
	select {
	case c.some <- struct{}{}:
	default:
	}
	return n, err
}

func (c *counting) wait(n int) {
	for {
		c.mu.Lock()
		there := c.n >= n
		if there {
			c.n -= n
		}
		c.mu.Unlock()
		if there {
			return
		}
		<-c.some
	}
}

// A write that returns when its batch was taken away disturbs nobody. Only the race detector
// sees that.
func TestAWriteThatReturnsBehindTheEndOfTheDrain(t *testing.T) {
	back := make(chan struct{})
	out := &lateWriter{script: &script{t: t}, after: spillWait, back: back}
	dead := &script{t: t, begin: time.Now()}
	r := newRigOver(t, KindNATS, out, dead)
	r.sink.Lane().TryPut([]*graph.Bundle{bundle(graph.NewReceipt(3, func() {}), 0, "a", "b", "c")})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r.system.Drain(ctx)
	<-back
	wantLetters(t, dead.got, []string{"a", "b", "c"}, "111")
}

// lateWriter is a script that takes its time, whatever ends.
type lateWriter struct {
	*script
	after time.Duration
	back  chan<- struct{}
}

func (l *lateWriter) Write(context.Context, []graph.Message) (int, error) {
	defer close(l.back)
	time.Sleep(l.after)
	return 0, nil
}
