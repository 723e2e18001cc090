package alert

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Whoever skips the seconds up to Wake misses nothing.
func TestWakeIsNeverTooLate(t *testing.T) {
	skipped, heard := 0, 0
	for seed := range 60 {
		file := func() string {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			span := func(most int) int { return 1 + r.IntN(most) }
			return fmt.Sprintf(`{inhibit_rules: [{source_match: [{selector: level, value: critical}], target_match: [{selector: level, value: high}], duration: %ds}],
 silences: [{matchers: [{selector: match.SourceIp, value: "1"}], starts_at: "1970-01-01T00:0%d:00Z", ends_at: "1970-01-01T00:1%d:00Z"}, {matchers: [{selector: match.SourceIp, value: "2"}], ends_at: "1970-01-01T00:%d:30Z"}],
 dedup: {fingerprint: [match.SourceIp, rule], repeat_interval: %ds, resolve_timeout: %ds},
 group: {by: [match.SourceIp], group_wait: %ds, group_interval: %ds, repeat_interval: %ds, resolve_timeout: %ds}}`,
				span(900), r.IntN(10), r.IntN(10), 10+r.IntN(40), span(300), span(900), span(60), span(300), span(400), span(900))
		}
		slow, fast := newTimeline(t, file()), newTimeline(t, file())
		slow.now, fast.now = 0, 0
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		for at := int64(0); at < 4000; at += 1 + r.Int64N(400) {
			slow.advance(at)
			for fast.now < at {
				records := len(fast.records)
				fast.tick(fast.now)
				next := fast.now + 1
				if len(fast.records) == records {
					wake, ok := fast.pipeline.Wake(fast.now)
					if !ok || wake > at {
						wake = at
					}
					next = max(next, wake)
				}
				skipped += int(next-fast.now) - 1
				fast.now = next
			}
			text := []string{"ssh", "ssh critical", "b", "b critical"}[r.IntN(4)] + fmt.Sprintf(" ip=%d", r.IntN(4))
			for range 1 + r.IntN(2) {
				if a, b := slow.process(result(t, text)), fast.process(result(t, text)); a != b {
					t.Fatalf("seed %d: at %d %s %s, second by second it %s", seed, at, text, b, a)
				}
			}
		}
		if !slices.Equal(slow.records, fast.records) {
			t.Fatalf("seed %d: records\n%s\nsecond by second\n%s", seed, strings.Join(fast.records, "\n"), strings.Join(slow.records, "\n"))
		}
		heard += len(slow.records)
	}
	if skipped < 10_000 || heard < 100 {
		t.Errorf("%d seconds were skipped, and %d records came out", skipped, heard)
	}
}
