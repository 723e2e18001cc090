//go:build unix

package daemon

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sources/fetch"
)

var loadSpan = flag.Duration("load", 2*time.Second, "processor time of each of the spans of the test under full load")

// changeEvery is the processor time that the daemon uses between two changes of a value.
// Under full load it uses a second of it in a second, and more where it has several
// processors; on a machine that others use, the clock would have it change more often.
const changeEvery = time.Second

// loadRounds is how many spans with changes there are, and spans without, in turn.
const loadRounds = 3

// tickRule is met by every event once, and shows by its pattern which value it was
// compiled with.
const tickRule = "title: Tick\nlevel: low\ndetection: {s: {Tick|contains: ['tick-', '%bad%']}, condition: s}\n"

// ticking is an endless stream of real events that are numbered.
type ticking struct {
	lines [][]byte
	fed   atomic.Int64
	stop  atomic.Bool
	rest  []byte
}

// Read gives events until it is told to stop.
func (s *ticking) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		if s.stop.Load() {
			return 0, io.EOF
		}
		s.rest = s.rest[:0]
		for len(s.rest) < len(p) {
			n := s.fed.Add(1) - 1
			line := s.lines[n%int64(len(s.lines))]
			s.rest = fmt.Appendf(s.rest, `{"Tick":"tick-%d",`, n)
			s.rest = append(append(s.rest, line[1:]...), '\n')
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// tocks notes which generation evaluated each event.
type tocks struct {
	mu          sync.Mutex
	rest        []byte
	generations []int32 // by event: the value its rules were compiled with, from 1; 0 for none yet
	twice       int
	longest     time.Duration // between two writes
	last        time.Time
	awaited     int // events
	all         chan struct{}
}

// reaches returns a channel that is closed when so many events have left.
func (s *tocks) reaches(events int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awaited, s.all = events, make(chan struct{})
	s.look()
	return s.all
}

func (s *tocks) look() {
	if s.all != nil && s.awaited > 0 && len(s.generations) >= s.awaited {
		s.awaited = 0
		close(s.all)
	}
}

func (s *tocks) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !s.last.IsZero() {
		s.longest = max(s.longest, now.Sub(s.last))
	}
	s.last = now
	s.rest = append(s.rest, p...)
	for {
		line, rest, found := bytes.Cut(s.rest, []byte("\n"))
		if !found {
			break
		}
		s.rest = rest
		s.note(line)
	}
	s.rest = append([]byte(nil), s.rest...)
	s.look()
	return len(p), nil
}

func (s *tocks) note(line []byte) {
	if !bytes.HasPrefix(line, []byte(`{"rule_title":"Tick"`)) {
		return
	}
	event, generation := numberBehind(line, `"tick-`), int32(numberBehind(line, `tick-, v`))
	for len(s.generations) <= event {
		s.generations = append(s.generations, 0)
	}
	if s.generations[event] != 0 {
		s.twice++
	}
	s.generations[event] = generation + 1
}

// pause returns the longest pause since it was asked last.
func (s *tocks) pause() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.longest
	s.longest = 0
	return d
}

func numberBehind(line []byte, mark string) int {
	_, rest, _ := bytes.Cut(line, []byte(mark))
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	n, err := strconv.Atoi(string(rest[:max(end, 0)]))
	if err != nil {
		return -1
	}
	return n
}

// steppedFeed is where the value of a source comes from.
type steppedFeed struct{ step atomic.Int64 }

func (f *steppedFeed) Fetch(context.Context, *fetch.Declaration, *fetch.Validators) (fetch.Value, error) {
	return fetch.Value{JSON: fmt.Appendf(nil, `["v%d"]`, f.step.Load())}, nil
}

func (f *steppedFeed) Subscribe(context.Context, *fetch.Declaration, func(fetch.Pushed)) error {
	return nil
}
func (f *steppedFeed) Control(context.Context, string, string, func([]byte)) error { return nil }
func (f *steppedFeed) Close()                                                      {}

// A value that changes once a second costs the stream neither an event nor a noticeable
// part of its throughput: each event is judged by exactly one generation, and later ones
// by no earlier generation.
func TestAValueThatChangesUnderFullLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	const least = 0.9 // of the throughput without changes
	lines := sigmatest.Lane(t, sigmatest.Telemetry)
	s, _ := corpusSourced(t)
	if err := os.WriteFile(s.ruleDir+"/tick.yml", []byte(tickRule), 0o644); err != nil {
		t.Fatal(err)
	}
	feed := &steppedFeed{}
	declarations := filepath.Join(t.TempDir(), "sources.yml")
	if err := os.WriteFile(declarations, []byte("sources: [{id: f, type: file, format: json, path: none}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := &config.Loaded{Config: config.Default()}
	c := &cfg.Config.Daemon
	c.Rules, c.Pipelines, c.Input.Sources, c.API.Addr = []string{s.ruleDir}, []string{s.pipeline}, []string{"stdin"}, "127.0.0.1:0"
	c.Sources = []string{declarations}
	c.Engine.MatchDetail, c.Output.Sinks = "full", []string{"stdout"}
	in, out := &ticking{lines: lines}, &tocks{}
	d, err := New(t.Context(), Options{Config: cfg, Log: slog.New(slog.DiscardHandler), In: in, Out: out, Err: os.Stderr, fetcher: feed})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	type figures struct {
		events int64
		used   time.Duration // of the processors
		wall   time.Duration
		pause  time.Duration
	}
	changes := 0
	span := func(changing bool) (f figures) {
		out.pause()
		before, used, begin := in.fed.Load(), sigmatest.ProcessorTime(), time.Now()
		look := time.NewTicker(10 * time.Millisecond)
		defer look.Stop()
		for next := used; sigmatest.ProcessorTime()-used < *loadSpan; <-look.C {
			if changing && sigmatest.ProcessorTime() >= next {
				next += changeEvery
				changes++
				feed.step.Store(int64(changes))
				if _, err := d.sources.Client().Resolve(t.Context(), "f"); err != nil {
					t.Error(err)
				}
			}
		}
		return figures{in.fed.Load() - before, sigmatest.ProcessorTime() - used, time.Since(begin), out.pause()}
	}
	span(false) // until all is warm
	var quiet, changing figures
	for range loadRounds {
		for _, into := range []*figures{&quiet, &changing} {
			f := span(into == &changing)
			into.events, into.used, into.wall, into.pause = into.events+f.events, into.used+f.used, into.wall+f.wall, max(into.pause, f.pause)
		}
	}
	in.stop.Store(true)
	<-d.Ended()
	<-out.reaches(int(in.fed.Load())) // the end of a daemon waits for its lines so long and no longer
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	seen := map[int32]int{}
	newest, back := int32(0), 0
	for event, g := range out.generations {
		if g == 0 {
			t.Fatalf("event %d was evaluated by no generation", event)
		}
		if g < newest {
			back++
		}
		newest = max(newest, g)
		seen[g]++
	}
	if int64(len(out.generations)) != in.fed.Load() || out.twice > 0 || back > 0 {
		t.Errorf("%d of %d events were evaluated, %d of them twice, %d by a generation before that of an earlier event", len(out.generations), in.fed.Load(), out.twice, back)
	}
	if len(seen) < changes {
		t.Errorf("%d generations evaluated events, want one for each of %d changes and the first", len(seen), changes)
	}
	rate := func(f figures) float64 { return float64(f.events) / f.used.Seconds() }
	t.Logf("without changes %d events a second of the clock, %.0f of processor time, longest pause %s", int64(float64(quiet.events)/quiet.wall.Seconds()), rate(quiet), quiet.pause)
	t.Logf("with %d changes %d events a second of the clock, %.0f of processor time, longest pause %s", changes, int64(float64(changing.events)/changing.wall.Seconds()), rate(changing), changing.pause)
	t.Logf("the throughput with changes is %.1f %% of that without", 100*rate(changing)/rate(quiet))
	if rate(changing) < least*rate(quiet) && !raceDetector {
		t.Errorf("the throughput with changes is %.1f %% of that without, want at least %.0f", 100*rate(changing)/rate(quiet), 100*least)
	}
}
