package command

import (
	"errors"
	"fmt"
	"os"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/evtx"
)

// openLog opens a file of the Windows event log.
func (e *events) openLog(path string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("read events: %s: Windows event records are read from a file, and this is none", path)
	}
	r, err := evtx.Open(f, info.Size())
	if err != nil {
		return fmt.Errorf("read events: %s: %w", path, err)
	}
	r.Bad = func(number int, fault error) bool {
		return e.tell(fmt.Sprintf("Error reading EVTX record %d: %s: %v", number, path, fault))
	}
	e.logs = true
	e.extent.add(info.Size(), r.Offset)
	e.add(path, r)
	return nil
}

// records returns how many of the places are of files of the event log.
func (e *events) records(places []spot) int {
	if e == nil || !e.logs {
		return 0
	}
	n := 0
	for i := range places {
		if places[i].record {
			n++
		}
	}
	return n
}

// unreadable tells of a record that cannot be read.
func (e *evaluation) unreadable(text string) {
	e.total.records++
	e.total.events++
	e.total.undecoded++
	e.printer.progress.clear(e.printer.out)
	fmt.Fprintln(e.printer.out.Err, text)
}

var windows = &ast.Logsource{Product: "windows"}

// implyWindows gives the records of event logs the product that they have where they say
// nothing else.
func (j *job) implyWindows() {
	if j.records == 0 || j.batch.Set.Engine.Options().Routing == nil {
		return
	}
	for i := range j.batch.Outcomes {
		if !j.placeOf(i).record {
			continue
		}
		for event := j.batch.Outcomes[i].Events.From; event < j.batch.Outcomes[i].Events.To; event++ {
			j.batch.Events.Imply(int(event), windows)
		}
	}
}

// asEventLog says of a stream that is refused as a file of the event log how it is read.
func asEventLog(err error) error {
	var is *sources.EncodingError
	if errors.As(err, &is) && is.Encoding == sources.EventLog {
		return fmt.Errorf("it is %s, which is read from a file whose name ends in .evtx", is.Encoding)
	}
	return err
}
