package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/command"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

// The bars on the lane.
const (
	minShare  = 0.7 // of the speed of the detection rules alone
	maxGrowth = 3.0 // times the cost with reset
	times     = 40  // the lane in one stream
)

// way is one way of judging the lane.
type way struct {
	name string
	args []string
	took []time.Duration // wall time of each round
	used []time.Duration // processor time
	size int             // bytes of results
}

func (w *way) run(text []byte) error {
	var out counter
	var errs bytes.Buffer
	start, cpu := time.Now(), sigmatest.ProcessorTime()
	code := command.Run(nil, append([]string{"sluice", "engine", "eval", "--quiet"}, w.args...), bytes.NewReader(text), &out, &errs)
	w.took, w.used = append(w.took, time.Since(start)), append(w.used, sigmatest.ProcessorTime()-cpu)
	w.size = int(out)
	if code != 0 || out == 0 {
		return fmt.Errorf("judge the lane (%s): exit code %d, %d bytes of results: %s", w.name, code, out, errs.String())
	}
	return nil
}

// lane compares one-shot evaluation with and without correlations.
func (r *report) lane(o options) error {
	lines, err := sigmatest.ReadLane(o.data, "correlation")
	if err != nil {
		return err
	}
	rules := filepath.Join(o.data, "lanes", "correlation-rules.yml")
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	alone := filepath.Join(dir, "detections.yml")
	if err := writeDetections(alone, rules); err != nil {
		return err
	}
	once := append(bytes.Join(lines, []byte("\n")), '\n')
	stream := bytes.Repeat(once, times)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{2, 1} {
		runtime.GOMAXPROCS(cores)
		for _, text := range [][]byte{once, stream} {
			ways := []*way{
				{name: "detections alone", args: []string{"-r", alone}},
				{name: "action reset", args: []string{"-r", rules, "--action", "reset"}},
				{name: "action alert", args: []string{"-r", rules}},
			}
			if err := inTurn(ways, text, 10*o.each); err != nil {
				return err
			}
			r.laneRows(ways, len(lines)*len(text)/len(once), cores, len(text) > len(once))
		}
	}
	return nil
}

// inTurn runs the ways one after the other until the time is over; the first
// round is not counted.
func inTurn(ways []*way, text []byte, each time.Duration) error {
	start := time.Now()
	for round := 0; round <= minRounds || time.Since(start) < each; round++ {
		for _, w := range ways {
			if err := w.run(text); err != nil {
				return err
			}
			if round == 0 {
				w.took, w.used = w.took[:0], w.used[:0]
			}
		}
	}
	return nil
}

func (r *report) laneRows(ways []*way, events, cores int, stream bool) {
	what := "the lane once"
	if stream {
		what = fmt.Sprintf("the lane %d times in one stream", times)
	}
	r.printf("%s, %d events, %d cores:\n", what, events, cores)
	for _, w := range ways {
		d, c := median(w.took), median(w.used)
		r.printf("  %-17s %10.0f events/s, %5.0f ns wall and %5.0f ns processor time an event, %d bytes of results\n",
			w.name, float64(events)/d.Seconds(), float64(d.Nanoseconds())/float64(events), float64(c.Nanoseconds())/float64(events), w.size)
	}
	share := ratio(ways[0].took, ways[1].took)
	growth := ratio(ways[2].took, ways[1].took)
	shareBar, growthBar := "", ""
	switch {
	case cores == 2 && !stream:
		shareBar = fmt.Sprintf(", bar %.0f %%: %s", 100*minShare, r.holds(share >= minShare))
	case cores == 2:
		growthBar = fmt.Sprintf(", bar %.1f: %s", maxGrowth, r.holds(growth <= maxGrowth))
	}
	r.printf("  reset: %.0f %% of the speed of detections alone (%.0f %% by processor time)%s\n",
		100*share, 100*ratio(ways[0].used, ways[1].used), shareBar)
	r.printf("  alert: %.2f times the cost of reset (%.2f by processor time)%s\n\n",
		growth, ratio(ways[2].used, ways[1].used), growthBar)
}

// ratio is the median over rounds.
func ratio(a, b []time.Duration) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i].Seconds() / b[i].Seconds()
	}
	return median(ratios)
}

// writeDetections writes the documents of a rule file that stand before the
// first correlation.
func writeDetections(path, rules string) error {
	text, err := os.ReadFile(rules)
	if err != nil {
		return err
	}
	at := bytes.Index(text, []byte("\ncorrelation:"))
	if at < 0 {
		return errors.New("the rules of the lane hold no correlation")
	}
	at = bytes.LastIndex(text[:at], []byte("\n---"))
	return os.WriteFile(path, text[:max(at, 0)], 0o600)
}

// counter counts what is written.
type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
