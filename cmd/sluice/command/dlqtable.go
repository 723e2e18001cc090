package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/deadletters"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
)

// letters writes dead letters as they come: rows of a table on a terminal, else an object
// a line.
type letters struct {
	out    *console
	table  *terminal.Table // nil for objects
	most   int             // width of the terminal; 0 for any
	buf    []byte
	indent bytes.Buffer
}

func newLetters(c *cli.Context, out *console) (*letters, error) {
	if c.Bool("json") {
		if out.explicit && out.format != formatNDJSON && out.format != formatJSON {
			return nil, configFaultf("--json excludes --output-format %s", out.format)
		}
		out.format, out.explicit = formatNDJSON, true
	}
	out.showFigures()
	l := &letters{out: out}
	if out.tabular() {
		l.table = out.table([]string{"NUMBER", "TIME", "STAGE", "SINK", "ERROR", "ORIGINAL"})
		if out.terminal && out.format == formatTable {
			l.most = out.columns()
			l.table.Fit(l.most)
		}
	}
	return l, nil
}

// cellBytes is how much of a text a cell may have; a row shows far less.
const cellBytes = 512

// Widths of cells on a terminal.
const (
	errorLeast = 12
	errorMost  = 48
	labelMost  = 16
)

func (l *letters) write(r *deadletters.Record) error {
	if l.table == nil {
		return l.object(r)
	}
	cause, original := r.Error, r.Original
	if l.out.format == formatTable {
		cause, original = beginOf(cause), beginOf(original)
	}
	if most := l.most; most > 0 {
		cause = terminal.Shorten(strings.TrimPrefix(cause, "sink delivery failure: "), min(max(errorLeast, (most-50)/2), errorMost))
	}
	row := []string{strconv.Itoa(r.Number), r.Time.UTC().Format(time.RFC3339), r.Stage, r.Sink, cause, original}
	if l.out.format == formatTable {
		row[2], row[3] = terminal.Shorten(r.Stage, labelMost), terminal.Shorten(r.Sink, labelMost)
	}
	if err := l.table.Row(row, ""); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// beginOf is the beginning of a text, cut between characters.
func beginOf(s string) string { return terminal.Shorten(s[:min(len(s), 4*cellBytes)], cellBytes) }

func (l *letters) object(r *deadletters.Record) error {
	l.buf = r.AppendJSON(l.buf[:0])
	if l.out.pretty() {
		l.indent.Reset()
		if err := json.Indent(&l.indent, l.buf, "", "  "); err != nil {
			return err
		}
		l.buf = append(l.buf[:0], l.indent.Bytes()...)
	}
	l.buf = append(l.buf, '\n')
	if _, err := l.out.Out.Write(l.buf); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// end writes what is held back.
func (l *letters) end() error {
	if l.table == nil {
		return nil
	}
	return l.table.Flush()
}
