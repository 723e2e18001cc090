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

// events are what an evaluation reads.
type events struct {
	sources.Reader
	file io.Closer
}

// openEvents opens what --event names, stdin when it is not given. Files and stdin may
// be JSON on any lines where the format is JSON. The text of inline events is a line of
// its own, and makes the format JSON.
func (e *env) openEvents(event string, given bool, d *format.Decoder) (events, error) {
	path, file := strings.CutPrefix(event, "@")
	switch {
	case !given:
		return readerOf(io.NopCloser(e.In), d, patienceWith(e.In)), nil
	case !file:
		return inline(event, d)
	case strings.EqualFold(filepath.Ext(path), ".evtx"):
		return events{}, fmt.Errorf("%s: Windows event records are not supported yet", path)
	}
	f, err := os.Open(path)
	if err == nil {
		if info, e := f.Stat(); e == nil && info.IsDir() {
			err = errors.Join(fmt.Errorf("%s is a directory", path), f.Close())
		}
	}
	if err != nil {
		return events{}, fmt.Errorf("read events: %w", err)
	}
	return readerOf(f, d, patienceWith(f)), nil
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

// readerOf reads a stream in the format.
func readerOf(src io.ReadCloser, d *format.Decoder, patience time.Duration) events {
	if d.Format.Values() {
		return events{new(sources.Buffers).NewSniffingReader(src, patience), src}
	}
	return events{new(sources.Buffers).NewReader(src), src}
}

// inline reads the text of events, whatever line ends it holds.
func inline(text string, d *format.Decoder) (events, error) {
	d.Format = format.JSON
	line := strings.NewReplacer("\n", " ", "\r", " ").Replace(text)
	if fault, ok := format.FindFault([]byte(line), false); ok {
		return events{}, fmt.Errorf("--event: not JSON at byte %d: %s (a file of events is @FILE)", fault.Offset, fault.Kind)
	}
	return events{new(sources.Buffers).NewReader(strings.NewReader(line)), io.NopCloser(nil)}, nil
}
