package sources

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
)

func TestKeptLinesLieInMemoryOfTheirOwn(t *testing.T) {
	for name, sizes := range map[string][]int{
		"one":                          {10},
		"none":                         {},
		"an empty one":                 {0},
		"several in one piece":         {10, 20, 30},
		"more than a piece":            {40 << 10, 40 << 10, 10, 40 << 10},
		"one that is longer than that": {10, 200 << 10, 10},
		"exactly a piece":              {chunkSize - 10, 10, 1},
		"the longest":                  {MaxLine},
	} {
		for _, buffers := range []*Buffers{nil, new(Buffers)} {
			var run []graph.Line
			var want []string
			var theirs [][]byte
			total := 0
			for i, n := range sizes {
				want = append(want, strings.Repeat(fmt.Sprint(i), n))
				theirs = append(theirs, []byte(want[i]))
				run = append(run, graph.Line{Raw: theirs[i], Structured: true})
				total += n
			}
			buffers.Keep(run)
			for _, b := range theirs {
				clear(b) // it is used again
			}
			charged := 0
			for i := range run {
				if string(run[i].Raw) != want[i] || !run[i].Structured {
					t.Errorf("%s: line %d is %.20q, want %.20q", name, i, run[i].Raw, want[i])
				}
				if cap(run[i].Raw) != len(run[i].Raw) {
					t.Errorf("%s: line %d can be appended to, over the next", name, i)
				}
				_, n := graph.SizeOfLine(run[i])
				charged += n
			}
			if least, most := total, 2*total+len(sizes)*(lineSize+smallest); charged < least || charged > most {
				t.Errorf("%s: the lines are charged with %d bytes, want between %d and %d", name, charged, least, most)
			}
		}
	}
}

// Memory of lines that have ended is lent again, and not before.
func TestTheMemoryOfKeptLinesIsUsedAgain(t *testing.T) {
	b := new(Buffers)
	first := []graph.Line{{Raw: []byte("a")}, {Raw: []byte("b")}}
	b.Keep(first)
	watch := first[0].Buffer
	for i := range first {
		if first[i].Buffer != watch {
			t.Fatal("two short lines have not the same memory")
		}
	}
	second := []graph.Line{{Raw: []byte("c")}}
	graph.ReleaseLines(first[:1])
	b.Keep(second)
	if second[0].Buffer == watch {
		t.Error("memory is lent while a line lies in it")
	}
	if string(first[1].Raw) != "b" {
		t.Errorf("a line is %q, want b", first[1].Raw)
	}
	graph.ReleaseLines(first[1:])
	again := false
	for range 100 { // pools drop some under the race detector
		third := []graph.Line{{Raw: []byte("d")}}
		b.Keep(third)
		again, watch = again || third[0].Buffer == watch, third[0].Buffer
		graph.ReleaseLines(third)
	}
	if !again {
		t.Error("memory of lines that have ended is never lent again")
	}
}

func BenchmarkKeep(b *testing.B) {
	const lines, size = 512, 500
	texts := make([]byte, lines*size)
	run := make([]graph.Line, lines)
	buffers := new(Buffers)
	b.ReportAllocs()
	b.SetBytes(lines * size)
	for b.Loop() {
		for i := range run {
			run[i] = graph.Line{Raw: texts[i*size : (i+1)*size : (i+1)*size]}
		}
		buffers.Keep(run)
		graph.ReleaseLines(run)
	}
}
