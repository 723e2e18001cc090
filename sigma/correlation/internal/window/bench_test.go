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
				var c Contribution
				for ts := range width {
					c.Text = fmt.Append(c.Text[:0], ts)
					c.Mark, c.Number = Hash(c.Text), float64(ts%977)/3
					w.Add(ts, &c, nil)
				}
				ts := width
				b.ReportAllocs()
				for b.Loop() {
					c.Text = fmt.Append(c.Text[:0], ts)
					c.Mark, c.Number = Hash(c.Text), float64(ts%977)/3
					w.DropBefore(ts - width)
					w.Add(ts, &c, nil)
					ts++
				}
			})
		}
	}
}
