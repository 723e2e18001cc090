package sources

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
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
