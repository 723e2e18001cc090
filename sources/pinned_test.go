package sources

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
)

func TestLinesThatWaitKeepLittleMoreThanThemselves(t *testing.T) {
	const requests = 200
	event := `{"a":"` + strings.Repeat("x", 200) + `"}` + "\n"
	for _, tc := range []struct{ name, body string }{
		{"an event behind blank lines", strings.Repeat("\n", 200<<10) + event},
		{"an event behind a long blank line", strings.Repeat(" ", 900<<10) + "\n" + event},
		{"an event behind a line that is too long", strings.Repeat("x", 3<<20) + "\n" + event},
		{"an event behind a long one that has ended", strings.Repeat("x", 900<<10) + "\n" + event},
		{"a few events between blank lines", strings.Repeat(event+strings.Repeat("\n", 50<<10), 4)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			buffers := new(Buffers)
			var kept [][]byte
			held := func() uint64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			before := held()
			for range requests {
				r := buffers.NewReader(strings.NewReader(tc.body))
				for {
					lines, err := r.Next(nil)
					for _, line := range lines {
						switch {
						case line.Oversize:
						case len(line.Bytes)+1 == len(event):
							kept = append(kept, line.Bytes) // and its share of the buffer
						default:
							line.Buffer.Release(1)
						}
					}
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				r.Close()
			}
			if len(kept) < requests {
				t.Fatalf("%d events, want at least %d", len(kept), requests)
			}
			after := held()
			if got, limit := int(after)-int(before), len(kept)*(2*firstChunk)+4<<20; got > limit {
				t.Errorf("%d events of %d bytes keep %d bytes, want at most %d", len(kept), len(event), got, limit)
			}
			for i := range kept {
				if !bytes.Equal(kept[i], []byte(event[:len(event)-1])) {
					t.Fatalf("event %d is %.100q", i, kept[i])
				}
			}
		})
	}
}

// What waits is charged with what it holds, however few lines a request has.
func TestLinesAreChargedWithWhatTheyKeep(t *testing.T) {
	event := func(n int) string { return `{"a":"` + strings.Repeat("x", n) + `"}` + "\n" }
	for _, tc := range []struct {
		name     string
		body     string
		requests int
		piece    int // most that one read brings; 0 for any
		most     int // bytes for each line
	}{
		{"requests of the shortest line", "1\n", 4000, 0, 1 << 10},
		{"requests of a short line", event(50), 4000, 0, 1 << 10},
		{"requests of a line", event(400), 4000, 0, 1 << 10},
		{"requests of a line of a KiB", event(1000), 4000, 0, 4 << 10},
		{"requests of a line of 3 KiB", event(3000), 2000, 0, 10 << 10},
		{"requests of ten lines", strings.Repeat(event(50), 10), 1000, 0, 1 << 10},
		{"requests that come line by line", strings.Repeat(event(93), 200), 50, 102, 1 << 10},
		{"requests that come in small pieces", strings.Repeat(event(93), 500), 20, 1500, 1 << 10},
		{"large requests", strings.Repeat(event(400), 2000), 4, 0, 2 << 10},
		{"long lines beside short ones", strings.Repeat(event(100), 20) + event(700<<10) + strings.Repeat(event(100), 20), 20, 0, 32 << 10},
	} {
		for _, lent := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, lent %t", tc.name, lent), func(t *testing.T) {
				var buffers *Buffers
				if lent {
					buffers = new(Buffers)
				}
				held := func() int {
					var m runtime.MemStats
					runtime.GC()
					runtime.GC() // what pools have
					runtime.ReadMemStats(&m)
					return int(m.HeapAlloc)
				}
				charged, lines, before := 0, 0, held()
				var kept []graph.Line
				for range tc.requests {
					var body io.Reader = strings.NewReader(tc.body)
					if tc.piece > 0 {
						body = pieces{body, tc.piece}
					}
					r := buffers.NewReader(body)
					for {
						texts, err := r.Next(nil)
						for _, text := range texts {
							line := graph.Line{Raw: text.Bytes, Buffer: text.Buffer, Held: uint32(text.Held)}
							_, bytes := graph.SizeOfLine(line)
							charged += bytes
							lines++
							kept = append(kept, line)
						}
						if err != nil {
							break
						}
					}
					r.Close()
				}
				if got := held() - before; got > charged+256<<10 {
					t.Errorf("%d lines hold %d bytes and are charged with %d", lines, got, charged)
				}
				if charged > lines*tc.most {
					t.Errorf("%d lines are charged with %d bytes each, want at most %d", lines, charged/lines, tc.most)
				}
				runtime.KeepAlive(kept)
			})
		}
	}
}

// pieces is a stream whose reads bring little.
type pieces struct {
	io.Reader
	size int
}

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), p.size)]) }
