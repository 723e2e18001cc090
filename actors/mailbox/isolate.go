package mailbox

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// poison is why an event was taken out: its own step panicked, and did so again
// when it was alone.
type poison struct {
	text string // the panic value as text
}

// Error is the text of the dead letter.
func (p *poison) Error() string { return "panic: " + p.text }

// Isolate contains the panics of events' own steps. Each goroutine that processes
// events has one: Cell.Isolate for the actor, Pool.Isolate for a worker.
type Isolate struct {
	cell     *Cell
	applying bool // state is being changed: a panic now is no event's own
}

// Step runs the pure step of one event. When it panics, undo removes what the
// step left behind and the step runs once more, alone. A second panic gives the
// error with which the event has to be quarantined, after undo; the event is
// counted and logged.
//
// undo may be nil. A panic in undo, or in Apply inside the step, is not contained.
func (g *Isolate) Step(step, undo func()) error {
	for attempt := 0; ; attempt++ {
		p, stack := g.try(step)
		if p == nil {
			return nil
		}
		if undo != nil {
			g.Apply(undo)
		}
		if attempt > 0 {
			g.cell.poisoned(p, stack)
			return p
		}
	}
}

// Each runs the pure steps of events from up to n, which costs nothing per event
// as long as none panics. An event that panics is treated as in Step; poisoned
// is called for one that did twice, and the next event follows.
func (g *Isolate) Each(from, n int, step, undo func(i int), poisoned func(i int, cause error)) {
	i := from
	sweep := func() {
		for ; i < n; i++ {
			step(i)
		}
	}
	for i < n {
		if p, _ := g.try(sweep); p == nil {
			return
		}
		if undo != nil {
			g.Apply(func() { undo(i) })
		}
		p, stack := g.try(func() { step(i) })
		if p != nil {
			if undo != nil {
				g.Apply(func() { undo(i) })
			}
			g.cell.poisoned(p, stack)
			poisoned(i, p)
		}
		i++
	}
}

// Apply runs change, which alters the actor's state. A panic in it restarts the
// actor with the state of the current save.
func (g *Isolate) Apply(change func()) {
	g.applying = true
	change()
	g.applying = false
}

// try runs f and turns a panic into a poison, unless it happened in Apply.
func (g *Isolate) try(f func()) (p *poison, stack callers) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if g.applying {
			panic(relay(v))
		}
		p, stack = &poison{text: panicText(v)}, callStack()
	}()
	f()
	return nil, nil
}

// callers is a stack that is spelled out only where it is logged: one poisonous
// event in a hundred must not be dear.
type callers []uintptr

// callStack is the stack of whoever calls it, in a deferred function that of the
// panic.
func callStack() callers {
	const skip = 2 // runtime.Callers and this function
	var at [64]uintptr
	return append(callers(nil), at[:runtime.Callers(skip, at[:])]...)
}

// String lists functions and positions the way a crash does.
func (c callers) String() string {
	if len(c) == 0 {
		return ""
	}
	var b strings.Builder
	for frames := runtime.CallersFrames(c); ; {
		f, more := frames.Next()
		fmt.Fprintf(&b, "%s\n\t%s:%d\n", f.Function, f.File, f.Line)
		if !more {
			return b.String()
		}
	}
}

// relay keeps the stack of a panic's origin when it is raised again.
func relay(v any) relayed {
	if r, ok := v.(relayed); ok {
		return r
	}
	return relayed{value: v, stack: debug.Stack()}
}

// panicText is the panic value as text, at most 512 bytes.
func panicText(v any) string {
	const limit = 512
	s := fmt.Sprint(v)
	if len(s) > limit {
		s = s[:limit]
	}
	return s
}

// poisoned counts a quarantined event and logs it, once per text and minute.
func (c *Cell) poisoned(p *poison, stack callers) {
	c.counters.quarantined.Add(1)
	if more, ok := c.quarantines.Allow(p.text, 1, time.Now()); ok && c.runtime.Log != nil {
		c.runtime.Log.Error("event quarantined", "actor", c.name, "panic", p.text, "repeated", more, "stack", stack.String())
	}
}
