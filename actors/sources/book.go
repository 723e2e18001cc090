package sources

import (
	"slices"
	"time"

	"github.com/sluicehq/sluice/sources/fetch"
)

// maxRunning is how many fetches run at once.
const maxRunning = fetch.AtOnce

// book holds the values of all sources and decides what is fetched when. It has no clock: the
// time is an argument.
type book struct {
	entries []*entry // in the order of their declarations
	byID    map[string]*entry
	queue   []*entry // that wait to be fetched, the longest first
	running int
	open    int  // fetches of the request for all sources that have not ended
	live    bool // timers run
}

// entry is a source.
type entry struct {
	*fetch.Declaration
	number int

	current    []byte   // what pipelines see; nil is null
	id         identity // of current
	stored     bool     // it is from the state database: nothing was fetched since the start
	version    uint64   // of current
	last       []byte   // the last value that was got; nil if there is none
	lastID     identity
	restored   bool // it is from the state database
	validators fetch.Validators

	defaultID identity // of the default

	pushed bool // a message was a value since the fetch that runs began

	running, waiting bool
	now, next        request // of the fetch that runs, and of the one that waits
	failing          bool    // the fetch before this one has failed
	succeeded        bool    // a fetch has succeeded since the start

	tick    time.Time     // the next one of an interval; zero without
	retry   time.Time     // of a start that failed; zero without
	backoff time.Duration // before the retry after that
	noticed time.Time     // when a change of the file is fetched; zero without
}

// request is what a fetch is for.
type request struct {
	rounds  []*round
	refresh bool // what comes is the current value
	all     bool // the request for all sources counts it
	retry   bool
}

func (e *request) add(o request) {
	e.rounds = append(e.rounds, o.rounds...)
	e.refresh, e.all, e.retry = e.refresh || o.refresh, e.all || o.all, e.retry || o.retry
}

// Times of retries after the start.
const (
	retryFirst = 5 * time.Second
	retryMost  = 300 * time.Second
)

// settle is how long changes of a file are collected before it is read.
const settle = 100 * time.Millisecond

func newBook(declarations []*fetch.Declaration) *book {
	b := &book{byID: make(map[string]*entry, len(declarations))}
	for i, d := range declarations {
		e := &entry{Declaration: d, number: i, id: identityOf(nil), lastID: identityOf(nil), defaultID: identityOf(d.Default)}
		b.entries = append(b.entries, e)
		b.byID[d.ID] = e
	}
	return b
}

// busy reports whether a fetch of the source runs or waits.
func (e *entry) busy() bool { return e.running || e.waiting }

// want has a source fetched. Requests that come before the fetch begins share it.
func (b *book) want(e *entry, what request) {
	e.next.add(what)
	if !e.waiting {
		e.waiting = true
		b.queue = append(b.queue, e)
	}
}

// start returns the sources whose fetches begin now.
func (b *book) start() (begin []*entry) {
	b.queue = slices.DeleteFunc(b.queue, func(e *entry) bool {
		if e.running || b.running == maxRunning {
			return false
		}
		e.running, e.waiting, e.pushed = true, false, false
		e.now, e.next = e.next, request{}
		b.running++
		begin = append(begin, e)
		return true
	})
	return begin
}

// all has every source fetched, and reports whether the fetches of the request before have
// ended, without which it does nothing.
func (b *book) all() bool {
	if b.open > 0 {
		return false
	}
	b.open = len(b.entries)
	for _, e := range b.entries {
		b.want(e, request{refresh: true, all: true})
	}
	return true
}

// begin starts the timers: intervals, and retries of sources that have failed, which have
// a fallback or are optional.
func (b *book) begin(now time.Time) {
	b.live = true
	for _, e := range b.entries {
		if e.Refresh.Policy == fetch.Interval {
			e.tick = now.Add(e.Refresh.Interval())
		}
		if e.failing && !e.succeeded {
			e.retry, e.backoff = now.Add(retryFirst), retryFirst
		}
	}
}

// due has sources fetched whose time has come. A tick of an interval that falls into a fetch
// is skipped.
func (b *book) due(now time.Time) {
	for _, e := range b.entries {
		if reached(e.tick, now) {
			if !e.busy() {
				b.want(e, request{refresh: true})
			}
			every := e.Refresh.Interval()
			e.tick = e.tick.Add(every * (now.Sub(e.tick)/every + 1))
		}
		if reached(e.retry, now) {
			e.retry = time.Time{}
			b.want(e, request{refresh: true, retry: true})
		}
		if reached(e.noticed, now) {
			e.noticed = time.Time{}
			b.want(e, request{refresh: true})
		}
	}
}

func reached(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// notice notes that the file of a source has changed.
func (b *book) notice(e *entry, now time.Time) {
	if b.live && e.noticed.IsZero() {
		e.noticed = now.Add(settle)
	}
}

// wake is when due has something to do next, zero for never.
func (b *book) wake() (at time.Time) {
	for _, e := range b.entries {
		for _, t := range []time.Time{e.tick, e.retry, e.noticed} {
			if !t.IsZero() && (at.IsZero() || t.Before(at)) {
				at = t
			}
		}
	}
	return at
}

// outcome is what came of a fetch.
type outcome struct {
	entry   *entry
	value   fetch.Value
	id      identity     // of the value
	failure *fetch.Error // nil after a success
	took    time.Duration
	aborted bool // it was called off: nothing is known
}

// effect is what an outcome changes.
type effect struct {
	value    value
	stored   bool     // the last value has changed
	changed  bool     // the current value has
	shown    bool     // or where it is from has
	kept     bool     // the current value stays although there is none
	finished []*round // that are complete now
}

// finish takes the outcome of a fetch.
func (b *book) finish(o outcome, now time.Time) (f effect) {
	e := o.entry
	did := e.now
	e.running, e.now = false, request{}
	b.running--
	if did.all {
		b.open--
	}
	e.failing = o.failure != nil
	if e.pushed && o.failure == nil {
		o.value = fetch.Value{Pending: true} // it is a message, too, and not newer than those of the subscription
	}
	f = b.apply(o, did.refresh)
	for _, r := range did.rounds {
		if r.stage(e, f.value, o) {
			f.finished = append(f.finished, r)
		}
	}
	if did.retry && e.failing && !e.succeeded {
		e.backoff = min(2*e.backoff, retryMost)
		e.retry = now.Add(e.backoff)
	}
	return f
}

// receive takes the value of a message of a subscription.
func (b *book) receive(e *entry, json []byte, id identity) effect {
	e.pushed = true
	return b.apply(outcome{entry: e, value: fetch.Value{JSON: json}, id: id}, true)
}

// apply judges an outcome and, if it refreshes the source, makes the value the current one.
func (b *book) apply(o outcome, refresh bool) (f effect) {
	e := o.entry
	if o.aborted {
		return effect{value: value{json: e.current, basis: unresolved}, kept: true}
	}
	f.value = judge(e, o.value, o.id, o.failure)
	if f.value.basis == fresh {
		e.restored = false
		f.stored = e.last == nil || e.lastID != f.value.id
		if e.last, e.lastID = f.value.json, f.value.id; e.last == nil {
			e.last = []byte("null")
		}
		e.validators, e.succeeded = o.value.Validators, true
		e.retry = time.Time{}
	}
	switch {
	case !refresh:
	case f.value.basis == unresolved && e.Required:
		f.kept = true
	default:
		before := e.stored
		f.changed = e.set(f.value)
		f.shown = f.changed || e.stored != before
	}
	return f
}

// set makes a value the current one, and reports whether it is another.
func (e *entry) set(v value) bool {
	e.stored = v.stored
	if e.id == v.id {
		return false
	}
	e.current, e.id = v.json, v.id
	e.version++
	return true
}

// forget drops the last value of a source.
func (b *book) forget(e *entry) {
	e.last, e.lastID, e.restored, e.validators = nil, identityOf(nil), false, fetch.Validators{}
	e.pushed = false // what the fetch that runs brings is no older than nothing
}
