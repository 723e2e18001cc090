package mailbox

import (
	"math"
	"sync"
	"time"
)

const (
	busyWindow = 10 * time.Second
	busySlots  = int64(busyWindow/time.Second) + 1
)

// busyMeter measures how long the goroutines of one actor process. What is under
// way counts as it goes, so a stuck step shows.
type busyMeter struct {
	workers int // goroutines that may process at once; 0 counts as 1

	mu    sync.Mutex // guards what follows
	epoch time.Time  // the first begin, which all other times count from
	total time.Duration
	open  []time.Duration // by slot; free where it is negative
	ring  [busySlots]struct {
		second int64
		busy   time.Duration
	}
}

// begin marks the start of processing and returns what end wants, and when it was. Times are
// read from the monotonic clock alone, as they are read for every step.
func (b *busyMeter) begin() (slot int, at time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.epoch.IsZero() {
		b.epoch = time.Now()
	}
	at = time.Since(b.epoch)
	for i := range b.open {
		if b.open[i] < 0 {
			b.open[i] = at
			return i, at
		}
	}
	b.open = append(b.open, at)
	return len(b.open) - 1, at
}

// since is how long ago a begin was.
func (b *busyMeter) since(at time.Duration) time.Duration { return time.Since(b.epoch) - at }

func (b *busyMeter) end(slot int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	to := time.Since(b.epoch)
	from := b.open[slot]
	b.open[slot] = -1
	b.total += to - from
	from = max(from, to-busyWindow)
	for from < to {
		second := int64(from / time.Second)
		until := min(to, time.Duration(second+1)*time.Second)
		s := &b.ring[second%busySlots]
		if s.second != second {
			s.second, s.busy = second, 0
		}
		s.busy += until - from
		from = until
	}
}

// read returns the time spent processing since the start, and the share of the
// last ten seconds, 0 to 1.
func (b *busyMeter) read(now time.Time) (total time.Duration, ratio float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.epoch.IsZero() {
		return 0, 0
	}
	at := now.Sub(b.epoch)
	first := at - busyWindow
	var recent time.Duration
	for _, s := range b.ring {
		begin := time.Duration(s.second) * time.Second
		switch {
		case begin >= first:
			recent += s.busy
		case begin+time.Second > first: // partly older than the window
			recent += min(s.busy, begin+time.Second-first)
		}
	}
	total = b.total
	for _, begin := range b.open {
		if begin >= 0 {
			total += at - begin
			recent += min(at-begin, busyWindow)
		}
	}
	ratio = recent.Seconds() / (busyWindow.Seconds() * float64(max(1, b.workers)))
	return total, min(1, math.Round(ratio*1e4)/1e4)
}
