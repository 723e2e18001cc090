package command

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/internal/plural"
)

// listed prints what a route of the API lists under a member: the entries as they are, or a
// table with a row for each, in a color or none. thing is what an entry is called.
func listed[T any](e *env, c *cli.Context, path, member, thing string, header []string, row func(*console, *T) ([]string, string)) error {
	_, out, cl, err := e.connect(c)
	if err != nil {
		return err
	}
	defer cl.Close()
	var table *terminal.Table
	if out.tabular() {
		table = out.list(header)
	}
	n := 0
	err = cl.Each(c.Context, path, member, func(entry json.RawMessage) error {
		n++
		if table == nil {
			return out.writeObject(entry)
		}
		var one T
		if err := json.Unmarshal(entry, &one); err != nil {
			return cl.Unreadable(http.MethodGet, path, err)
		}
		return written(table.Row(row(out, &one)))
	})
	return out.endList(table, err, n, thing)
}

// list makes a table that fits into the terminal.
func (c *console) list(header []string) *terminal.Table {
	t := c.table(header)
	if c.terminal && c.format == formatTable {
		t.Fit(c.columns())
	}
	return t
}

// endList writes what a table held back, if there is one, and says how many entries there are.
func (c *console) endList(table *terminal.Table, err error, n int, thing string) error {
	if table != nil {
		err = errors.Join(written(table.Flush()), err)
	}
	switch {
	case isClosedPipe(err), errors.Is(err, errWrite):
		return err
	case err != nil:
		return configFault(err)
	case c.talkTo:
		c.summary("%s", plural.Of(n, thing))
	}
	return nil
}
