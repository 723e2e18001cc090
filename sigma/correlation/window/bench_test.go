package window

import (
	"fmt"
	"testing"
)

// The time of a match must not depend on how much the window holds.
func BenchmarkSlide(b *testing.B) {
	for _, s := range subjects() {
		for _, width := range []int64{100, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", s.name, width), func(b *testing.B) {
				w := s.make()
				for ts := range width {
					w.Add(ts, Contribution{Text: fmt.Append(nil, ts), Number: float64(ts%977) / 3}, nil)
				}
				ts := width
				text := make([]byte, 0, 16)
				b.ReportAllocs()
				for b.Loop() {
					text = fmt.Append(text[:0], ts)
					w.DropBefore(ts - width)
					w.Add(ts, Contribution{Text: text, Number: float64(ts%977) / 3}, nil)
					ts++
				}
			})
		}
	}
}
