package evtx

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/evtx/evtxtest"
)

var when = time.Date(2026, 3, 10, 12, 30, 1, 815720700, time.UTC)

// fault is a record that could not be read.
type fault struct {
	number int
	text   string
}

// readAll reads a file to its end: its records as lines, and those that cannot be read.
func readAll(tb testing.TB, file []byte) (lines []string, faults []fault) {
	tb.Helper()
	r, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		tb.Fatal(err)
	}
	r.Bad = func(n int, err error) bool {
		faults = append(faults, fault{n, err.Error()})
		return true
	}
	defer r.Close()
	var run []sources.Text
	for {
		run, err = r.Next(run[:0])
		if err == io.EOF { //nolint:errorlint // readers return it bare
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		for _, text := range run {
			if !text.Value || text.Oversize {
				tb.Fatalf("record %d is no JSON value", text.Line)
			}
			lines = append(lines, string(text.Bytes))
			text.Buffer.Release(1)
		}
	}
	if r.Records() != len(lines)+len(faults) {
		tb.Errorf("counted %d records, read %d and %d faulty", r.Records(), len(lines), len(faults))
	}
	return lines, faults
}

// one is a log of one record with that content.
func one(content ...evtxtest.Node) []byte {
	l := evtxtest.New()
	l.AddContent(when, content...)
	return l.Bytes()
}

// numbered is a log of n records whose only element has their number.
func numbered(n int) []byte {
	l := evtxtest.New()
	template := evtxtest.El("Event", evtxtest.El("Number", evtxtest.Sub{}))
	for i := range n {
		l.Add(when, &template, evtxtest.Uint32(uint32(i+1)))
	}
	return l.Bytes()
}
