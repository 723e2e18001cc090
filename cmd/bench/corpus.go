package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
)

// bar is what the engine must reach on a lane, as ratios to json.Valid.
type bar struct {
	every, aim, routed float64
}

func barOf(lane string) bar {
	switch lane {
	case "raw_windows":
		return bar{1.2, 1.6, 1.4}
	case "structured_windows":
		return bar{0.6, 1.0, 0.8}
	case "sysmon_file_event":
		return bar{0.5, 0.9, 0.9}
	case "cisco_syslog":
		return bar{0.75, 1.0, 1.0}
	}
	return bar{0.65, 1.1, 0.7}
}

// The bars that are not ratios to json.Valid.
const (
	maxAllocsReal     = 0.05  // per event of the real telemetry
	maxAllocsUnmet    = 0.001 // per event without a match: the profiler's own noise
	maxAllocsResult   = 2.0
	maxLoad           = 800 * time.Millisecond
	maxResidentMB     = 80.0
	maxPeakMB         = 200.0
	maxTenfold        = 2.0
	structuredWindows = "structured_windows"
)

// corpus measures the engine on the lanes, and its memory unless one lane is asked
// for. It keeps to one core.
func (r *report) corpus(_ context.Context, o options) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if o.child {
		return printUsage(o.data)
	}
	if o.only == "" {
		if err := r.load(o.data); err != nil {
			return err
		}
	}
	return r.lanes(o)
}

// load measures reading and compiling, and memory, in a process of its own.
func (r *report) load(data string) error {
	u, err := childUsage(data)
	if err != nil {
		return err
	}
	total := u.Parse + u.Compile
	r.printf("load of %d rules: %v parse, %v compile, bar %v: %s\n", u.Rules, u.Parse.Round(time.Millisecond), u.Compile.Round(time.Millisecond), maxLoad, r.holds(total <= maxLoad))
	r.printf("resident after load: %.0f MB as it stands, %.0f MB when freed pages went back, bar %.0f MB: %s\n", u.LoadedMB, u.SettledMB, maxResidentMB, r.holds(u.SettledMB <= maxResidentMB))
	r.printf("peak with every lane judged: %.0f MB, bar %.0f MB: %s\n\n", u.PeakMB, maxPeakMB, r.holds(u.PeakMB <= maxPeakMB))
	return nil
}

// lanes measures every lane, or the one asked for.
func (r *report) lanes(o options) error {
	rules, err := loadRules(o.data)
	if err != nil {
		return err
	}
	every, err := newJudge(rules, nil)
	if err != nil {
		return err
	}
	routed, err := newJudge(rules, new(engine.Routing))
	if err != nil {
		return err
	}
	derived, err := newJudge(rules, engine.DefaultRouting())
	if err != nil {
		return err
	}
	r.printf("%-25s %-7s %10s %7s %8s %7s %7s %7s %6s %6s\n", "lane", "mode", "events/s", "MB/s", "ns/event", "allocs", "hits", "ratio", "bar", "aim")
	found := false
	for _, lane := range sigmatest.Lanes() {
		if o.only != "" && o.only != lane {
			continue
		}
		found = true
		lines, err := sigmatest.ReadLane(o.data, lane)
		if err != nil {
			return err
		}
		samples, err := measureLane([]*judge{every, routed, derived}, lines, o.each)
		if err != nil {
			return err
		}
		b := barOf(lane)
		r.row(lane, "every", samples[0], b.every, b.aim)
		r.row(lane, "routed", samples[1], b.routed, 0)
		r.row(lane, "derived", samples[2], b.routed, 0)
		if err := r.allocations(lane, every, samples[0], lines); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("no lane %q (%q)", o.only, sigmatest.Lanes())
	}
	if o.only == "" {
		return r.tenfold(o, rules, every)
	}
	return nil
}

func (r *report) row(lane, mode string, s figures, least, aim float64) {
	aimed := "-"
	if aim > 0 {
		aimed = fmt.Sprintf("%.2f", aim)
	}
	r.printf("%-25s %-7s %10.0f %7.0f %8d %7.3f %7.2f %7.2f %6.2f %6s %s\n", lane, mode, s.events, s.bytes/1e6, s.perEvent.Nanoseconds(),
		s.allocs, s.results, s.ratio, least, aimed, r.holds(s.ratio >= least))
}

// allocations holds the three rules about allocating against a lane.
func (r *report) allocations(lane string, j *judge, s figures, lines [][]byte) error {
	if lane == sigmatest.Telemetry {
		r.printf("  allocations: %.3f per event, bar %.2f: %s\n", s.allocs, maxAllocsReal, r.holds(s.allocs <= maxAllocsReal))
		return nil
	}
	r.printf("  allocations: %.2f per result, bar %.0f: %s\n", s.perResult, maxAllocsResult, r.holds(s.perResult <= maxAllocsResult))
	none, err := unmatched(j, lines)
	if err != nil || len(none) == 0 {
		return err
	}
	perEvent, _, _ := allocations(j, none)
	r.printf("  allocations: %.4f per event over %d without a match, bar 0: %s\n", perEvent, len(none), r.holds(perEvent <= maxAllocsUnmet))
	return nil
}

// tenfold compares the corpus with ten variants of it.
func (r *report) tenfold(o options, rules []*ast.Rule, once *judge) error {
	for _, lane := range []string{structuredWindows, sigmatest.Telemetry} {
		lines, err := sigmatest.ReadLane(o.data, lane)
		if err != nil {
			return err
		}
		lines = lines[:min(len(lines), 10000)]
		many, err := silentVariants(rules, lines)
		if err != nil {
			return err
		}
		ten, err := newJudge(many, nil)
		if err != nil {
			return err
		}
		samples, err := measureLane([]*judge{once, ten}, lines, o.each)
		if err != nil {
			return err
		}
		factor := samples[0].ratio / samples[1].ratio
		r.printf("\n%d rules on %s: %.0f events/s, %.2f times the cost, bar %.1f: %s\n", len(many), lane, samples[1].events, factor, maxTenfold, r.holds(factor <= maxTenfold))
	}
	return nil
}

// silentVariants returns ten times the rules, less the variants that fire on
// the lines: a variant whose filters no longer exclude anything would measure
// the writing of results.
func silentVariants(rules []*ast.Rule, lines [][]byte) ([]*ast.Rule, error) {
	many, err := multiplied(rules, 10)
	if err != nil {
		return nil, err
	}
	j, err := newJudge(many, nil)
	if err != nil {
		return nil, err
	}
	fired, err := j.fired(lines)
	if err != nil {
		return nil, err
	}
	out := many[:len(rules):len(rules)]
	for i := len(rules); i < len(many); i++ {
		if !fired[i] {
			out = append(out, many[i])
		}
	}
	return out, nil
}
