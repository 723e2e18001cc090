package deadletters

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sluicehq/sluice/graph"
)

// Replay sends the records of a file to where they can go on: lines to the input of a
// daemon, the results of failed deliveries to a sink. File is required.
type Replay struct {
	File   string // or Stdin
	Stdin  io.Reader
	Filter Filter
	// Selection is the filter as it was given. A replay goes on where one with the same
	// selection ended, and with the times that this one began with.
	Selection string
	Input     *Input // nil leaves lines out
	Target    Target // nil leaves results out, unless Dry: then they are taken as a sink takes them
	To        string // names the target in the progress; empty leaves results out
	By        string // the flag that names it; empty for --to

	State   string  // file of the progress; empty keeps none
	Restart bool    // forget the progress
	Rate    float64 // records a second; 0 for no limit
	// Dry is told of what would be sent, instead of sending it. Nothing is written then.
	Dry func(r *Record) error

	Refused func(r *Record, err error)
	// RefusedBefore is told of each record that an earlier replay had refused.
	RefusedBefore func(number int, why string)
	Damaged       func(d *Damage)
}

// Counts is what became of the records of a file.
type Counts struct {
	Lines         int  // were sent
	Deliveries    int  // were sent
	Results       int  // that Deliveries held
	Refused       int  // will never be taken by where they were sent
	Before        int  // lines of the file that an earlier replay was through with
	RefusedBefore int  // of those lines
	Damaged       int  // lines that are no dead letter
	Filtered      int  // that the filter leaves out
	NoInput       int  // lines that were left out, since nothing takes them
	NoTarget      int  // deliveries that were left out, since nothing takes them
	CutOff        bool // the last line was not whole, and waits for the next replay
}

// Bounds of a batch.
const (
	batchRecords = 500
	batchBytes   = 1 << 20
)

// batch is what is sent before the progress is written again.
type batch struct {
	lines, deliveries []pending
	refused           int // records that are in neither
	bytes             int
}

// pending is a record that is about to be sent.
type pending struct {
	*Record
	raw      []byte          // of a line
	messages []graph.Message // of a delivery
	mark     mark            // behind it
}

func (b *batch) len() int { return len(b.lines) + len(b.deliveries) }

// run is a replay under way.
type run struct {
	*Replay
	counts   Counts
	progress *progress
	tracks   map[string]*track // those that this replay moves
	batch    batch
	most     int // records of a batch
	here     mark
	next     time.Time // when the rate lets the next batch begin
}

// Run replays until the end that the file has now, until stop ends, which is no error, or
// until something cannot be sent for good. Work ends what is under way, some time after
// stop.
func (p *Replay) Run(stop, work context.Context) (Counts, error) {
	r := &run{Replay: p, most: batchRecords, tracks: make(map[string]*track)}
	if p.Rate > 0 {
		r.most = int(min(batchRecords, max(1, p.Rate/4)))
	}
	err := r.run(stop, work)
	return r.counts, err
}

func (r *run) run(stop, work context.Context) error {
	s, err := open(r.File, r.Stdin)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	if r.Target != nil && isSame(r.Target.File(), r.File) {
		return fmt.Errorf("sink '%s' is the file that is replayed", r.To)
	}
	if r.State != "" && isSame(r.State, r.File) {
		return fmt.Errorf("--state: %s is the file that is replayed", r.State)
	}
	if r.State != "" && r.File != Stdin && r.Dry == nil {
		release, err := lock(r.File)
		if err != nil {
			return err
		}
		defer release()
	}
	if err := r.begin(s); err != nil {
		return err
	}
	for stop.Err() == nil {
		record, err := s.record()
		var damage *Damage
		switch {
		case errors.Is(err, io.EOF):
			return r.flush(stop, work)
		case errors.As(err, &damage) && errors.Is(err, errCutOff):
			r.counts.CutOff = true
			r.Damaged(damage)
			return r.flush(stop, work)
		case err != nil && damage == nil:
			return errors.Join(r.flush(stop, work), err)
		}
		behind := r.here
		r.here = mark{end: s.end, line: s.line, last: s.began, sum: digest(bytes.TrimRight(s.buf, "\r\n"))}
		if damage != nil {
			r.counts.Damaged++
			r.Damaged(damage)
		} else if err := r.take(record); err != nil {
			var missing *Missing
			if !errors.As(err, &missing) {
				return err
			}
			missing.files, r.here = r.To, behind // the next replay begins with it
			return cmp.Or(r.flush(stop, work), err)
		}
		if r.batch.len() >= r.most || r.batch.refused >= batchRecords || r.batch.bytes >= batchBytes {
			if err := r.flush(stop, work); err != nil {
				return err
			}
		}
	}
	return nil
}

// take puts a record into the batch, unless it is left out.
func (r *run) take(record *Record) error {
	name, left, sent := trackLines, &r.counts.NoInput, &r.counts.Lines
	if record.Delivery() {
		name, left, sent = trackResults, &r.counts.NoTarget, &r.counts.Deliveries
	}
	t, filter := r.tracks[name], r.Filter
	if t != nil {
		filter.Since, filter.Until = t.Since, t.Until
	}
	switch {
	case t != nil && r.here.end <= t.End: // an earlier replay was through with it
		return nil
	case !filter.Accepts(record):
		r.counts.Filtered++
		return nil
	case t == nil:
		*left++
		return nil
	case record.Delivery() && r.Target != nil:
		if taken, err := r.Target.takes(record); err != nil || !taken {
			if err == nil {
				*left++
			}
			return err
		}
	}
	p, err := pending{Record: record, mark: r.here}, error(nil)
	if record.Delivery() {
		p.messages, err = r.messages(record)
	} else {
		p.raw, err = record.line()
	}
	switch {
	case err != nil:
		r.batch.refused++
		r.refuse(t, record, err, r.here.end)
	case r.Dry != nil:
		*sent++
		r.counts.Results += len(p.messages)
		return r.Dry(record)
	case record.Delivery():
		r.batch.deliveries = append(r.batch.deliveries, p)
	default:
		r.batch.lines = append(r.batch.lines, p)
	}
	r.batch.bytes += len(record.Original)
	return nil
}

func (r *run) messages(record *Record) ([]graph.Message, error) {
	if r.Target == nil {
		return messages(record, r.here.last, time.Now())
	}
	return r.Target.messages(record, r.here.last, time.Now())
}

func (r *run) refuse(t *track, record *Record, err error, end int64) {
	t.refuse(record.Number, err, end)
	r.counts.Refused++
	r.Refused(record, err)
}

// flush sends the batch and writes how far the replay came.
func (r *run) flush(stop, work context.Context) error {
	if r.Dry != nil {
		return nil
	}
	b := r.batch
	r.batch = batch{}
	if b.len() > 0 && !wait(stop, time.Until(r.next)) {
		return nil
	}
	if r.Rate > 0 {
		r.next = time.Now().Add(time.Duration(float64(b.len()) / r.Rate * float64(time.Second)))
	}
	var failed []error
	if t := r.tracks[trackLines]; t != nil {
		raw := make([][]byte, len(b.lines))
		for i, p := range b.lines {
			raw[i] = p.raw
		}
		done, err := r.Input.send(stop, work, raw)
		r.settle(t, b.lines, done)
		failed = append(failed, err)
	}
	if t := r.tracks[trackResults]; t != nil {
		done, err := r.Target.send(work, b.deliveries)
		r.settle(t, b.deliveries, done)
		failed = append(failed, err)
	}
	err := errors.Join(failed...)
	if stop.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // somebody ended it
	}
	return errors.Join(err, r.progress.save())
}

// settle counts what was sent and moves the track behind it.
func (r *run) settle(t *track, all []pending, done []error) {
	for i, err := range done {
		switch p := all[i]; {
		case err != nil:
			r.refuse(t, p.Record, err, p.mark.end)
		case p.Delivery():
			r.counts.Deliveries++
			r.counts.Results += len(p.messages)
		default:
			r.counts.Lines++
		}
	}
	to := r.here
	if n := len(done); n < len(all) {
		if n == 0 {
			return
		}
		to = all[n-1].mark
	}
	if to.end > t.End {
		t.move(to)
	}
}

// begin finds out where to go on, and makes sure that the progress can be written.
func (r *run) begin(s *stream) error {
	var err error
	r.progress = &progress{Tracks: make(map[string]*track)}
	if r.State != "" {
		if r.progress, err = loadProgress(r.State); err != nil && !r.Restart {
			return err
		}
		if r.Restart {
			r.progress = &progress{path: r.State, Tracks: make(map[string]*track)}
		}
	}
	if r.Input != nil {
		err = r.follow(trackLines, r.Selection)
	}
	if r.To != "" && err == nil {
		err = r.follow(trackResults, strings.TrimSpace(r.Selection+" "+cmp.Or(r.By, "--to")+" "+r.To))
	}
	if err != nil {
		return err
	}
	var tracks []*track
	for _, name := range []string{trackLines, trackResults} {
		t := r.tracks[name]
		if t == nil {
			continue
		}
		tracks = append(tracks, t)
		for _, one := range t.Refused {
			r.RefusedBefore(one.Number, one.Error)
		}
		r.counts.RefusedBefore += len(t.Refused) + t.More
	}
	if err := resume(s, tracks); err != nil {
		return err
	}
	r.counts.Before = s.line
	if r.Dry != nil {
		return nil
	}
	return r.progress.save()
}

// follow makes the replay move a track. A selection that begins has the times of now,
// and one that goes on has those it began with.
func (r *run) follow(name, selection string) error {
	t := r.progress.Tracks[name]
	if t == nil || t.End == 0 { // nothing was done yet
		t = &track{Selection: selection, Since: r.Filter.Since, Until: r.Filter.Until}
		r.progress.Tracks[name] = t
	}
	if t.Selection != selection {
		return fmt.Errorf("%s is about a replay of %s %s, and this one is %s (name another file with --state, or begin anew with --restart)",
			r.State, name, told(t.Selection), told(selection))
	}
	r.tracks[name] = t
	return nil
}

func told(selection string) string {
	if selection == "" {
		return "without a filter"
	}
	return "with " + selection
}
