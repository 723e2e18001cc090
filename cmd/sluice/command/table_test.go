package command

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTablesAlignWhatTheyHaveSeen(t *testing.T) {
	var out bytes.Buffer
	tab := newTable(&console{Streams: Streams{Out: &out}, format: formatTable}, []string{"N", "TEXT", "LAST"})
	for i := range sampleRows + 2 {
		text := fmt.Sprintf("é%d\x1b[2J", i)
		if i > sampleRows {
			text = strings.Repeat("w", 20)
		}
		if err := tab.row([]string{fmt.Sprint(i), text, "x"}, ""); err != nil {
			t.Fatal(err)
		}
		if i == sampleRows-2 && out.Len() > 0 {
			t.Error("rows were written before the widths were known")
		}
	}
	if err := tab.flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for i, want := range map[int]string{
		0:              "  N  TEXT      LAST",
		1:              "---  --------  ----",
		2:              "  0  é0 [2J    x", // an escape sequence has lost its escape
		sampleRows + 2: "500  é500 [2J  x",
		sampleRows + 3: "501  wwwwwwwwwwwwwwwwwwww  x",
	} {
		if lines[i] != want {
			t.Errorf("line %d: got %q, want %q", i, lines[i], want)
		}
	}
}

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
