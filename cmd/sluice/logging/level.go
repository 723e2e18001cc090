package logging

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// The places that a filter may come from, beside the flag and the variable that the
// caller of NewLevel names.
const (
	OriginDefault = "default"
	OriginAPI     = "api"
)

// Level is a filter that can be replaced while loggers use it, for good or for a
// while. Its methods may be called from any goroutine.
type Level struct {
	filter atomic.Pointer[Filter] // in force
	log    atomic.Pointer[slog.Logger]

	mu     sync.Mutex // guards the rest
	chosen choice     // lasts until somebody chooses again
	until  time.Time  // when chosen comes back; zero while it is in force
	passes choice     // in force until then
	timer  *time.Timer
	change int // counts the changes, so that a timer which comes late is known
}

// choice is a filter and where it came from.
type choice struct {
	filter Filter
	origin string
}

// LevelState says what a Level lets through.
type LevelState struct {
	Filter string // in force
	Origin string // of it
	// Until is when Then takes its place; zero, with an empty Then, is never.
	Until time.Time
	Then  string
}

// NewLevel returns a level that begins with a filter. Origin says where it came from.
func NewLevel(f Filter, origin string) *Level {
	l := &Level{chosen: choice{f, origin}}
	l.filter.Store(&f)
	return l
}

// LevelOf returns the level of a root logger that NewQueued made, and of every logger
// made of it; nil for other loggers.
func LevelOf(log *slog.Logger) *Level {
	if h, ok := log.Handler().(*handler); ok {
		l, _ := h.filter.(*Level)
		return l
	}
	return nil
}

// Enabled reports whether a line of this level and target is written.
func (l *Level) Enabled(target string, level slog.Level) bool {
	return l.filter.Load().Enabled(target, level)
}

// State says what is in force.
func (l *Level) State() LevelState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state()
}

func (l *Level) state() LevelState {
	if l.until.IsZero() {
		return LevelState{Filter: l.chosen.filter.String(), Origin: l.chosen.origin}
	}
	return LevelState{Filter: l.passes.filter.String(), Origin: l.passes.origin, Until: l.until, Then: l.chosen.filter.String()}
}

// Set puts a filter in force: until somebody chooses again, or for a while, when d is
// not zero. Then the one comes back that was last chosen to stay, however often others
// were chosen for a while in between.
func (l *Level) Set(f Filter, origin string, d time.Duration) LevelState {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	l.change++
	c := choice{f, origin}
	if d <= 0 {
		l.chosen, l.until, l.passes = c, time.Time{}, choice{}
	} else {
		l.passes, l.until = c, time.Now().Add(d)
		mine := l.change
		l.timer = time.AfterFunc(d, func() { l.comeBack(mine) })
	}
	l.put(c)
	return l.state()
}

// comeBack ends what was chosen for a while by change number n.
func (l *Level) comeBack(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n != l.change {
		return
	}
	l.until, l.passes, l.timer = time.Time{}, choice{}, nil
	l.put(l.chosen)
}

// put has loggers obey c and tells it, where the filter before or c lets it be told.
func (l *Level) put(c choice) {
	attrs := []any{"level", c.filter.String(), "origin", c.origin}
	if !l.until.IsZero() {
		attrs = append(attrs, "until", l.until.UTC().Format(time.RFC3339))
	}
	log := l.log.Load()
	before := log != nil && log.Enabled(context.Background(), slog.LevelInfo)
	if before {
		log.Info("log level changed", attrs...)
	}
	l.filter.Store(&c.filter)
	if log != nil && !before {
		log.Info("log level changed", attrs...)
	}
}
