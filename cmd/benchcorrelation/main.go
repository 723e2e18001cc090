// Benchcorrelation measures correlations and holds the figures against bars:
// the engine of correlations alone, by type, window and number of groups, its
// memory, and one-shot evaluation of a lane with correlation rules against the
// same lane with detection rules alone.
//
// Times of the engine are processor time, so a busy machine disturbs them less;
// those of one-shot evaluation on two cores are wall time.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

func main() {
	o := options{groups: []int{1, 1000, 100_000}}
	flag.StringVar(&o.data, "data", "", "directory of the corpus (default: SLUICE_DATA, else ../shared/data)")
	seconds := flag.Float64("seconds", 0.2, "how long each figure is measured; the lane ten times as long")
	flag.StringVar(&o.only, "only", "", "measure only this part: engine, growth, memory or lane")
	check := flag.Bool("check", false, "exit 1 when a bar is missed")
	flag.Parse()
	o.each = time.Duration(*seconds * float64(time.Second))
	r := report{out: os.Stdout}
	if err := r.run(o); err != nil {
		fmt.Fprintln(os.Stderr, "benchcorrelation:", err)
		os.Exit(2)
	}
	if r.missed > 0 && *check {
		os.Exit(1)
	}
}

type options struct {
	data, only string
	groups     []int // of the engine's figures
	each       time.Duration
}

// report prints figures and counts missed bars.
type report struct {
	out    io.Writer
	missed int
}

func (r *report) run(o options) error {
	if o.data == "" && (o.only == "" || o.only == "lane") {
		var err error
		if o.data, err = sigmatest.FindData(); err != nil {
			return err
		}
	}
	parts := []struct {
		name string
		run  func(options) error
	}{{"engine", r.engine}, {"growth", r.growth}, {"memory", r.memory}, {"lane", r.lane}}
	known := false
	for _, p := range parts {
		if o.only != "" && o.only != p.name {
			continue
		}
		known = true
		if err := p.run(o); err != nil {
			return err
		}
	}
	if !known {
		return fmt.Errorf("no part %q (engine, growth, memory, lane)", o.only)
	}
	return nil
}

func (r *report) printf(format string, args ...any) { fmt.Fprintf(r.out, format, args...) }

// holds prints PASS or FAIL.
func (r *report) holds(ok bool) string {
	if ok {
		return "PASS"
	}
	r.missed++
	return "FAIL"
}
