package sigmatest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Rate is how fast work went.
type Rate struct {
	Clock float64 // events per second
	Net   float64 // events per second in which a processor was to be had; as Clock where nobody tells
	Cost  float64 // processor time of an event, ns
}

// Measure does work that is so many events on so many processors.
func Measure(processors, events int, work func()) Rate {
	begin := time.Now() //nolint:forbidigo // measuring is what it is for
	used, waited := ProcessorTime(), waitingTime()
	work()
	took, n := time.Since(begin), float64(events)
	lost := (waitingTime() - waited) / time.Duration(processors)
	return Rate{
		Clock: n / took.Seconds(), Net: n / (took - min(lost, took*9/10)).Seconds(),
		Cost: float64((ProcessorTime() - used).Nanoseconds()) / n,
	}
}

// waitingTime is how long the threads of this process have been ready to run
// without a processor, because others had all of them. Only Linux tells.
func waitingTime() (sum time.Duration) {
	tasks, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, name := range tasks {
		var ran, waited int64
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		if _, err := fmt.Sscan(string(text), &ran, &waited); err == nil {
			sum += time.Duration(waited)
		}
	}
	return sum
}

// Ratios compare turns of two things that alternate: a machine that others use
// does not keep its pace.
type Ratios struct{ clock, net, cost []float64 }

// Add takes a turn of one and a turn of the other, by which the first is measured.
func (r *Ratios) Add(one, other Rate) {
	r.clock = append(r.clock, one.Clock/other.Clock)
	r.net = append(r.net, one.Net/other.Net)
	r.cost = append(r.cost, one.Cost/other.Cost)
}

// Clock is the median ratio of rates by the clock.
func (r *Ratios) Clock() float64 { return Quartile(r.clock, 2) }

// Net is the median ratio of rates without waiting for others.
func (r *Ratios) Net() float64 { return Quartile(r.net, 2) }

// String tells the medians, and between which ratios half of the turns lie.
func (r *Ratios) String() string {
	return fmt.Sprintf("%.2f times by the clock (half in %.2f to %.2f), %.2f without waiting for others (half in %.2f to %.2f), at %.2f times the processor time an event",
		r.Clock(), Quartile(r.clock, 1), Quartile(r.clock, 3), r.Net(), Quartile(r.net, 1), Quartile(r.net, 3), Quartile(r.cost, 2))
}

// Quartile returns the n-th quartile of in; the second is the median.
func Quartile(in []float64, n int) float64 {
	s := slices.Sorted(slices.Values(in))
	return s[min(len(s)*n/4, len(s)-1)]
}
