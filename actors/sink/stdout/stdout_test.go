package stdout

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/graph"
)

// calls records every write call, and fails after limit bytes when it is set.
type calls struct {
	got   []string
	limit int
}

func messages(bodies ...string) (out []graph.Message) {
	for _, b := range bodies {
		out = append(out, graph.Message{Body: []byte(b)})
	}
	return out
}

var errPipe = errors.New("broken pipe")

func (c *calls) Write(p []byte) (int, error) {
	if c.limit > 0 && len(p) > c.limit {
		c.got = append(c.got, string(p[:c.limit]))
		return c.limit, errPipe
	}
	c.got = append(c.got, string(p))
	return len(p), nil
}

func TestOneCallPerLine(t *testing.T) {
	out := &calls{}
	n, err := New(NewStream(out)).Write(t.Context(), messages("a", "b"))
	if want := []string{"a\n", "b\n"}; n != 2 || err != nil || !slices.Equal(out.got, want) {
		t.Errorf("got %d, %v and calls %q, want 2 and %q", n, err, out.got, want)
	}
}

func TestABrokenLineGoesOnWhereItStopped(t *testing.T) {
	out := &calls{limit: 3}
	tr := New(NewStream(out))
	line := messages("abcdef")
	if n, err := tr.Write(t.Context(), line); n != 0 || !errors.Is(err, errPipe) {
		t.Fatalf("got %d and %v, want 0 and %v", n, err, errPipe)
	}
	out.limit = 0
	if n, err := tr.Write(t.Context(), line); n != 1 || err != nil {
		t.Fatalf("got %d and %v, want 1", n, err)
	}
	if got := strings.Join(out.got, ""); got != "abcdef\n" {
		t.Errorf("the stream is %q, want the line once", got)
	}
}

func TestAnAbandonedLineIsEnded(t *testing.T) {
	out := &calls{limit: 3}
	tr := New(NewStream(out))
	_, _ = tr.Write(t.Context(), messages("abcdef"))
	out.limit = 0
	tr.Abandon()
	_, _ = tr.Write(t.Context(), messages("next"))
	if got := strings.Join(out.got, ""); got != "abc\nnext\n" {
		t.Errorf("the stream is %q, want the next line on its own", got)
	}
}

func TestLinesOfTwoTransportsDoNotMix(t *testing.T) {
	var out bytes.Buffer
	stream := NewStream(&out)
	var wg sync.WaitGroup
	for _, text := range []string{strings.Repeat("a", 100), strings.Repeat("b", 100)} {
		wg.Go(func() {
			tr := New(stream)
			for range 1000 {
				_, _ = tr.Write(t.Context(), messages(text))
			}
		})
	}
	wg.Wait()
	for line := range strings.Lines(out.String()) {
		if len(line) != 101 || strings.Trim(line, line[:1]) != "\n" {
			t.Fatalf("mixed line %q", line)
		}
	}
}
