package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sources"
)

// events are what an evaluation reads: each of its readers to its end, in order.
type events struct {
	readers []sources.Reader
	names   []string // of readers
	files   []io.Closer
	places  []spot // of the texts that were read last
	taken   int    // of places
}

// input is a reader that says which lines its texts are on.
type input interface {
	sources.Reader
	CountLines()
}

// add appends a reader.
func (e *events) add(name string, r input) {
	r.CountLines()
	e.readers, e.names = append(e.readers, r), append(e.names, name)
}

// take appends the places of the next texts to dst. A nil *events knows none.
func (e *events) take(dst []spot, n int) []spot {
	if e == nil {
		return dst
	}
	dst = append(dst, e.places[e.taken:e.taken+n]...)
	e.taken += n
	return dst
}

// Next implements sources.Reader.
func (e *events) Next(dst []sources.Text) ([]sources.Text, error) {
	for len(e.readers) > 0 {
		run, err := e.readers[0].Next(dst)
		switch {
		case err == nil:
			e.places, e.taken = e.places[:0], 0
			for _, text := range run[len(dst):] {
				e.places = append(e.places, spot{e.names[0], text.Line})
			}
			return run, nil
		case err != io.EOF: //nolint:errorlint // readers return it bare; what wraps it is a failure
			return run, fmt.Errorf("%s: %w", e.names[0], err)
		}
		e.readers[0].Close()
		e.readers, e.names = e.readers[1:], e.names[1:]
	}
	return dst, io.EOF
}

// Close implements sources.Reader.
func (e *events) Close() {
	for _, r := range e.readers {
		r.Close()
	}
	e.readers = nil
}

// release closes the files, which are only read from.
func (e *events) release() {
	for _, f := range e.files {
		_ = f.Close()
	}
}

// openEvents opens all that --event names, stdin when it is not given.
func (e *env) openEvents(names []string, d *format.Decoder) (*events, error) {
	all := new(events)
	if len(names) == 0 {
		all.add("stdin", readerOf(e.In, d))
	}
	for _, name := range names {
		if err := all.open(name, e.In, d); err != nil {
			all.release()
			return nil, err
		}
	}
	return all, nil
}

// open opens what one --event names, standard input for @-. Files and stdin may be JSON on any lines where the
// format is JSON; the text of inline events is JSON whatever the format is.
func (e *events) open(name string, stdin io.Reader, d *format.Decoder) error {
	path, file := strings.CutPrefix(name, "@")
	switch {
	case !file:
		if fault, ok := format.FindFault([]byte(name), false); ok {
			return fmt.Errorf("--event: not JSON at byte %d: %s (a file of events is @FILE)", fault.Offset, fault.Kind)
		}
		r := new(sources.Buffers).NewValueReader(strings.NewReader(name))
		r.Whole(d.Filter != nil)
		e.add("--event", r)
		return nil
	case path == "-":
		e.add("stdin", readerOf(stdin, d))
		return nil
	case strings.EqualFold(filepath.Ext(path), ".evtx"):
		return fmt.Errorf("%s: this build does not read Windows event records: export them as JSON, for example with evtx_dump -o jsonl, and add -p windows_evtx", path)
	}
	f, err := os.Open(path)
	if err == nil {
		if info, e := f.Stat(); e == nil && info.IsDir() {
			err = errors.Join(fmt.Errorf("%s is a directory", path), f.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	e.add(path, readerOf(f, d))
	e.files = append(e.files, f)
	return nil
}

// patience is how long an event behind a first line that may be broken waits for the
// stream to go on.
const patience = time.Second

// patienceWith is the patience that a stream needs: a file does not pause.
func patienceWith(src io.Reader) time.Duration {
	if f, ok := src.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return 0
		}
	}
	return patience
}

// readerOf reads a stream in the format, inflated when it is gzip.
func readerOf(src io.Reader, d *format.Decoder) input {
	in := sources.NewInflatingReader(src)
	if d.Format.Values() {
		r := new(sources.Buffers).NewSniffingReader(in, patienceWith(src))
		r.Whole(d.Filter != nil)
		return r
	}
	return new(sources.Buffers).NewReader(in)
}
