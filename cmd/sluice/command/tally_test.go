package command

import (
	"bytes"
	"testing"
	"time"
)

func TestProgressIsShownOnlyDuringLongInputs(t *testing.T) {
	var errs bytes.Buffer
	out := &console{Streams: Streams{Err: &errs}}
	p := progress{on: true}
	begun := time.Unix(1000, 0)
	p.show(out, &tally{events: 1}, begun)
	p.show(out, &tally{events: 2}, begun.Add(progressDelay-1))
	if errs.Len() > 0 {
		t.Errorf("a short input shows %q", errs.String())
	}
	p.show(out, &tally{events: 3000, matches: 2}, begun.Add(2*time.Second))
	p.show(out, &tally{events: 3001}, begun.Add(2*time.Second+progressEvery-1))
	p.clear(out)
	if want := "\r3000 events, 2 matches, 1500 events/s\x1b[K\r\x1b[K"; errs.String() != want {
		t.Errorf("got %q, want %q", errs.String(), want)
	}
}
