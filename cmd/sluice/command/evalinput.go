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
	files   []io.Closer
}

// Next implements sources.Reader.
func (e *events) Next(dst []sources.Text) ([]sources.Text, error) {
	for len(e.readers) > 0 {
		run, err := e.readers[0].Next(dst)
		if err != io.EOF { //nolint:errorlint // readers return it bare; what wraps it is a failure
			return run, err
		}
		e.readers[0].Close()
		e.readers = e.readers[1:]
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
		all.readers = append(all.readers, readerOf(e.In, d))
	}
	for _, name := range names {
		if err := all.open(name, d); err != nil {
			all.release()
			return nil, err
		}
	}
	return all, nil
}

// open opens what one --event names. Files and stdin may be JSON on any lines where the
// format is JSON; the text of inline events is JSON whatever the format is.
func (e *events) open(name string, d *format.Decoder) error {
	path, file := strings.CutPrefix(name, "@")
	switch {
	case !file:
		if fault, ok := format.FindFault([]byte(name), false); ok {
			return fmt.Errorf("--event: not JSON at byte %d: %s (a file of events is @FILE)", fault.Offset, fault.Kind)
		}
		e.readers = append(e.readers, new(sources.Buffers).NewValueReader(strings.NewReader(name)))
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
	e.readers, e.files = append(e.readers, readerOf(f, d)), append(e.files, f)
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
func readerOf(src io.Reader, d *format.Decoder) sources.Reader {
	in := sources.NewInflatingReader(src)
	if d.Format.Values() {
		return new(sources.Buffers).NewSniffingReader(in, patienceWith(src))
	}
	return new(sources.Buffers).NewReader(in)
}
