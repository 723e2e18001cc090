package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// pipelineList lists the built-in pipelines.
func (e *env) pipelineList(c *cli.Context) error {
	_, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	list := pipeline.Descriptions()
	rows := make([][]string, len(list))
	for i, d := range list {
		rows[i] = []string{d.Name, strconv.Itoa(int(d.Priority)), d.Does, d.Events}
	}
	header := []string{"NAME", "PRIORITY", "DESCRIPTION", "EVENTS"}
	if out.showFigures(); out.terminal && out.format == formatTable {
		fitLast(header, rows, out.columns())
	}
	return writeList(out, list, header, rows)
}

// fitLast shortens the last two columns of a table so that no row is wider than the
// terminal, each to half of the room that the others leave where it needs more.
func fitLast(header []string, rows [][]string, width int) {
	const gap = 2
	most := make([]int, len(header))
	for i, h := range header {
		most[i] = len(h)
		for _, r := range rows {
			most[i] = max(most[i], terminal.Places(r[i]))
		}
	}
	last, free := len(header)-1, width
	for _, n := range most[:last-1] {
		free -= n + gap
	}
	free = max(free-gap, 2*gap)
	half := free / 2
	first := max(min(most[last-1], half), free-most[last])
	for _, r := range rows {
		r[last-1], r[last] = terminal.Shorten(r[last-1], first), terminal.Shorten(r[last], free-first)
	}
}

// pipelineShow prints the document of a built-in pipeline. One that has none is shown as
// a list of the places where it looks for fields.
func (e *env) pipelineShow(c *cli.Context) error {
	_, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	if c.Args().Len() != 1 {
		return configFaultf("pipeline show needs the name of one built-in pipeline (%s)", strings.Join(pipeline.Builtins[:], ", "))
	}
	name := c.Args().First()
	if !slices.Contains(pipeline.Builtins[:], name) {
		text := fmt.Sprintf("no built-in pipeline is named %q", name)
		if near := suggest.Text(name, pipeline.Builtins[:]); near != "" {
			return configFaultf("%s, %s", text, near)
		}
		return configFaultf("%s (%s)", text, strings.Join(pipeline.Builtins[:], ", "))
	}
	if text := pipeline.Source(name); text != nil {
		out.fallback("YAML")
		_, err = out.Out.Write(text)
		return err
	}
	places := pipeline.Places()
	rows := make([][]string, len(places))
	for i, p := range places {
		rows[i] = []string{p.Field, p.String()}
	}
	return writeList(out, places, []string{"FIELD", "LOOKED FOR IN"}, rows)
}

// writeList writes a list that people read as a table: one on a terminal, or when it is
// asked for, else JSON.
func writeList[T any](out *console, list []T, header []string, rows [][]string) error {
	out.showFigures()
	switch {
	case out.tabular():
		return out.writeTable(header, rows)
	case out.format == formatJSON:
		return writeJSON(out.Out, list, out.pretty())
	}
	for _, item := range list {
		if err := writeJSON(out.Out, item, false); err != nil {
			return err
		}
	}
	return nil
}
