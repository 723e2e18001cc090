package logging

import (
	"io"
	"log/slog"
	"sync"
	"time"
)

// The bounds of a queue. What is on its way into the writer counts.
const (
	queueRecords = 8192
	queueBytes   = 4 << 20

	// patience is how long writes to Patient wait for room, all of them together.
	patience = 2 * time.Second
)

// Queue stands in front of a writer that may stop taking anything, such as a pipe
// that nobody reads. Write never waits: a record that finds the queue full is lost,
// and a record that counts the lost ones follows when there is room again. A
// goroutine writes until Close.
type Queue struct {
	w      io.Writer
	report func(lost int) []byte
	work   chan struct{} // holds a token when there is something to write
	freed  chan struct{} // holds a token when a record has left

	mu       sync.Mutex // guards the rest
	records  [][]byte   // the first is being written
	bytes    int
	lost     int // since records were last taken
	closed   bool
	finished chan struct{} // closed when all is written
}

// NewQueued returns a root logger like New's, and the queue in front of w that its
// records go through. The level tells its changes there.
func NewQueued(w io.Writer, format Format, level *Level) (*slog.Logger, *Queue) {
	reporter := &handler{format: format, target: "sluice.server"}
	q := &Queue{
		w: w, work: make(chan struct{}, 1), freed: make(chan struct{}, 1), finished: make(chan struct{}),
		report: func(lost int) []byte {
			r := slog.NewRecord(time.Now(), slog.LevelWarn, "log records lost: nobody read them fast enough", 0)
			return reporter.append(nil, r, []slog.Attr{slog.Int("records", lost)})
		},
	}
	go q.run()
	log := newLogger(q, format, level)
	level.log.Store(Target(log, "sluice.server"))
	return log, q
}

// Write takes a record, or counts it as lost. It never fails.
func (q *Queue) Write(record []byte) (int, error) {
	q.offer(record, true)
	return len(record), nil
}

// Patient is a writer for what must not be lost lightly, such as why the daemon
// does not start: it waits for room, in all for a moment at most.
func (q *Queue) Patient() io.Writer { return &patient{q: q} }

type patient struct {
	q    *Queue
	over <-chan time.Time // nil before the first wait
}

func (p *patient) Write(record []byte) (int, error) {
	for !p.q.offer(record, false) {
		if p.over == nil {
			p.over = closeAfter(patience)
		}
		select {
		case <-p.q.freed:
			continue
		case <-p.over:
		}
		return p.q.Write(record)
	}
	return len(record), nil
}

// closeAfter returns a channel that is closed when d has passed.
func closeAfter(d time.Duration) <-chan time.Time {
	c := make(chan time.Time)
	time.AfterFunc(d, func() { close(c) })
	return c
}

// offer appends a record if there is room. Without room it counts it, if it is to
// be given up.
func (q *Queue) offer(record []byte, giveUp bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.records) > 0 && (len(q.records) >= queueRecords || q.bytes+len(record) > queueBytes) {
		if giveUp && !q.closed {
			q.lost++
		}
		return false
	}
	q.push(append([]byte(nil), record...))
	return true
}

func (q *Queue) push(record []byte) {
	q.records = append(q.records, record)
	q.bytes += len(record)
	signal(q.work)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run writes record after record.
func (q *Queue) run() {
	defer close(q.finished)
	for {
		record, closed := q.first()
		switch {
		case record != nil:
			_, _ = q.w.Write(record) // there is nowhere to say that it failed
			q.written()
		case closed:
			return
		default:
			<-q.work
		}
	}
}

// first returns the record to be written, nil without one.
func (q *Queue) first() (record []byte, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.records) == 0 {
		return nil, q.closed
	}
	return q.records[0], false
}

// written removes the first record, and puts the count of lost ones behind those
// that came before them.
func (q *Queue) written() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= len(q.records[0])
	q.records[0] = nil
	q.records = q.records[1:]
	if q.lost > 0 {
		q.push(q.report(q.lost))
		q.lost = 0
	}
	signal(q.freed)
}

// Close has everything written that waits, for as long as d at most. What comes
// later is lost.
func (q *Queue) Close(d time.Duration) {
	q.mu.Lock()
	q.closed = true
	signal(q.work)
	q.mu.Unlock()
	select {
	case <-q.finished:
	case <-closeAfter(d):
	}
}
