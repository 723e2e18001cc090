package sources

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sluicehq/sluice/graph"
)

// Streams that share buffers, with lines given back early, late and never: what
// is held stays what it was, whatever was read into memory given back before.
func TestLinesKeepTheirTextWhileTheyHaveTheirShare(t *testing.T) {
	var b Buffers
	type held struct {
		line graph.Line
		text string
	}
	var kept []held
	for stream := range 40 {
		var text strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&text, "%d/%d %s\n", stream, i, strings.Repeat("x", i*stream%90))
		}
		text.WriteString(strings.Repeat("y", 100_000) + "\n") // larger than any chunk that is kept
		if stream%7 == 0 {
			text.WriteString(strings.Repeat("z", MaxLine+2) + "\nbehind it\n")
		}
		want := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
		r := b.NewReader(iotest.HalfReader(strings.NewReader(text.String())))
		n := 0
		for {
			texts, err := r.Next(nil)
			if errors.Is(err, io.EOF) {
				break
			}
			for i := range texts {
				line := []graph.Line{{Raw: texts[i].Bytes, Buffer: texts[i].Buffer}}
				if texts[i].Oversize {
					want[n] = want[n][:ExcerptSize]
				}
				if got := string(line[0].Raw); got != want[n] {
					t.Fatalf("line %d of stream %d is %.60q, want %.60q", n, stream, got, want[n])
				}
				if n++; (n+stream)%997 == 0 {
					kept = append(kept, held{line[0], want[n-1]})
					continue
				}
				graph.ReleaseLines(line)
			}
		}
		r.Close()
		if n != len(want) {
			t.Fatalf("stream %d has %d lines, want %d", stream, n, len(want))
		}
		if stream%3 == 0 {
			for _, h := range kept {
				if string(h.line.Raw) != h.text {
					t.Fatalf("a line that is held became %.60q, want %.60q", h.line.Raw, h.text)
				}
				graph.ReleaseLines([]graph.Line{h.line})
			}
			kept = kept[:0]
		}
	}
}

func TestReadingWithBuffersAllocatesLittle(t *testing.T) {
	var b Buffers
	body := strings.Repeat(strings.Repeat("a", 700)+"\n", 500)
	var texts []Text
	stream := func() {
		r := b.NewReader(strings.NewReader(body))
		for err := error(nil); err == nil; {
			texts, err = r.Next(texts[:0])
			for i := range texts {
				texts[i].Buffer.Release(1)
			}
		}
		r.Close()
	}
	const streams = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range streams {
		stream()
	}
	runtime.ReadMemStats(&after)
	// Pools may be emptied now and then, under the race detector often.
	if per := (after.TotalAlloc - before.TotalAlloc) / streams; per > uint64(len(body))/2 {
		t.Errorf("%d bytes allocated for a stream of %d", per, len(body))
	}
}
