package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
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

func TestResultsOnATerminalAreRowsAsTheyCome(t *testing.T) {
	var out bytes.Buffer
	c := &console{Streams: Streams{Out: &out, Err: io.Discard}, format: formatJSON, terminal: true, color: true}
	p := newPrinter(c, false)
	if c.format != formatTable || p.table == nil {
		t.Fatalf("format %s, want a table for a person who watches", c.format)
	}
	p.fit(&load.Collection{
		Rules:        []*ast.Rule{{Meta: ast.Meta{Title: "A rule"}}},
		Correlations: []*ast.Correlation{{Meta: ast.Meta{Title: "Longer"}, Type: ast.TemporalOrdered}},
	})
	if err := errors.Join(
		p.table.row([]string{"high", "A rule", "detection", "Image=a.exe"}, levelColor(ast.LevelHigh)),
		p.table.row([]string{"low", "Longer", "temporal_ordered", "Image=a\u202eexe"}, ""),
	); err != nil {
		t.Fatal(err)
	}
	want := "LEVEL          RULE    TYPE              DETAIL\n" +
		"\x1b[31mhigh\x1b[0m           A rule  detection         Image=a.exe\n" +
		"low            Longer  temporal_ordered  Image=a exe\n" // what turns text around stands in no row
	if got := out.String(); got != want {
		t.Errorf("output\n%q\nwant\n%q", got, want)
	}
	if p := newPrinter(&console{format: formatJSON, terminal: true}, true); p.table != nil || p.form != (step.Pretty{}) {
		t.Error("--pretty on a terminal must give indented JSON")
	}
}
