package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
)

// Formats of --output-format.
const (
	formatJSON   = "json"
	formatNDJSON = "ndjson"
	formatTable  = "table"
	formatCSV    = "csv"
	formatTSV    = "tsv"
)

// console knows how a command's product should look and who is reading.
type console struct {
	Streams
	command  string
	format   string     // never empty
	explicit bool       // somebody chose format
	terminal bool       // stdout is one
	width    func() int // of the terminal; nil when nobody can tell
	talkTo   bool       // stderr is a terminal
	color    bool
	quiet    bool
	noStats  bool
}

func (e *env) console(command string, g config.Global) *console {
	c := &console{
		Streams: e.Streams, command: command, format: g.OutputFormat, explicit: g.OutputFormat != "",
		terminal: terminal.Is(e.Out), talkTo: terminal.Is(e.Err), quiet: g.Quiet, noStats: g.NoStats,
	}
	if !c.explicit {
		c.format = formatNDJSON
		if c.terminal {
			c.format = formatJSON
		}
	}
	if f, ok := e.Out.(*os.File); ok && c.terminal {
		c.width = terminal.Width(f)
	}
	switch g.Color {
	case "always":
		c.color = true
	case "auto":
		c.color = c.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return c
}

// columns is the width of the terminal at this moment, as people resize it.
func (c *console) columns() int {
	if c.width == nil {
		return terminal.UnknownWidth
	}
	return c.width()
}

// showFigures makes the product a table on a terminal, unless somebody chose a format:
// it is a list, or figures, that people read.
func (c *console) showFigures() {
	if c.terminal && !c.explicit {
		c.format = formatTable
	}
}

// pretty reports whether JSON is indented: on a terminal, unless lines were
// asked for.
func (c *console) pretty() bool { return c.format == formatJSON && c.terminal }

// tabular reports whether the product has columns.
func (c *console) tabular() bool {
	return c.format == formatTable || c.format == formatCSV || c.format == formatTSV
}

// fallback warns, once, that the command does not produce the chosen format.
func (c *console) fallback(to string) {
	if c.explicit && !c.quiet {
		fmt.Fprintf(c.Err, "warning: %s has no %s output, it prints %s\n", c.command, c.format, to)
	}
}

// note writes one line to stderr unless told to be quiet.
func (c *console) note(format string, args ...any) {
	if !c.quiet {
		fmt.Fprintf(c.Err, format+"\n", args...)
	}
}

// summary writes the trailing line of numbers.
func (c *console) summary(format string, args ...any) {
	if !c.noStats {
		c.note(format, args...)
	}
}

// table makes a table in the chosen tabular format.
func (c *console) table(header []string) *terminal.Table {
	t := terminal.NewTable(c.Out, map[string]rune{formatCSV: ',', formatTSV: '\t'}[c.format], c.color, header)
	if c.terminal {
		t.Clean()
	}
	return t
}

// writeTable writes all rows in the chosen tabular format.
func (c *console) writeTable(header []string, rows [][]string) error {
	t := c.table(header)
	for _, r := range rows {
		if err := t.Row(r, ""); err != nil {
			return err
		}
	}
	return t.Flush()
}

// writeObject writes what the daemon said: on one line, or indented.
func (c *console) writeObject(object []byte) error {
	var b bytes.Buffer
	var err error
	if c.pretty() {
		err = json.Indent(&b, object, "", "  ")
	} else {
		err = json.Compact(&b, object)
	}
	if err != nil {
		return configFault(err)
	}
	_, err = fmt.Fprintf(c.Out, "%s\n", bytes.TrimSpace(b.Bytes()))
	return err
}
