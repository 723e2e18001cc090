// Benchcorpus measures the engine on real rules and events, on one core, from
// NDJSON bytes to finished result bytes, and holds the figures against bars.
//
// Every lane is measured against json.Valid over the same lines in the same
// run: a ratio of 1.0 is as fast as merely checking that the lines are JSON.
// Times are processor time, so a busy machine disturbs them less.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

func main() {
	var o options
	flag.StringVar(&o.data, "data", "", "directory of the corpus (default: SLUICE_DATA, else ../shared/data)")
	seconds := flag.Float64("seconds", 3, "how long each lane is measured")
	flag.StringVar(&o.lane, "lane", "", "measure only this lane, without memory and the tenfold rules")
	check := flag.Bool("check", false, "exit 1 when a bar is missed")
	flag.BoolVar(&o.child, "memory", false, "load the rules, judge all lanes and print the memory used (what the parent starts)")
	flag.Parse()
	o.each = time.Duration(*seconds * float64(time.Second))
	runtime.GOMAXPROCS(1)
	missed, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchcorpus:", err)
		os.Exit(2)
	}
	if missed > 0 && *check {
		os.Exit(1)
	}
}

type options struct {
	data, lane string
	each       time.Duration
	child      bool
}

func run(o options) (missed int, err error) {
	if o.data == "" {
		if o.data, err = sigmatest.FindData(); err != nil {
			return 0, err
		}
	}
	if o.child {
		return 0, printUsage(o.data)
	}
	r := report{out: os.Stdout}
	if o.lane == "" {
		if err := r.load(o.data); err != nil {
			return 0, err
		}
	}
	err = r.lanes(o)
	return r.missed, err
}
