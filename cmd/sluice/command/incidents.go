package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/shell"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/internal/disk"
	"github.com/sluicehq/sluice/sigma/ast"
)

const incidentsPath = "/api/v1/incidents"

func incidentPath(id string) string { return incidentsPath + "/" + url.PathEscape(id) }

func (e *env) incidentCommands() []*cli.Command {
	return []*cli.Command{
		command("list", "list the open incidents", "", clientFlags(), e.incidentList),
		command("show", "show one open incident", incidentID, clientFlags(), e.incidentShow),
		e.incidentExportCommand(),
	}
}

func (e *env) incidentExportCommand() *cli.Command {
	flags := append([]cli.Flag{
		shell.Choice("bundle-format", "Form of the bundle", "json", "markdown"),
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "File to write; stdout when absent"},
	}, clientFlags()...)
	return command("export", "fetch the bundle of an incident: with its rules and its risk", incidentID, flags, e.incidentExport)
}

// listedIncident is an incident as the daemon lists it.
type listedIncident struct {
	ID          string              `json:"incident_id"`
	FirstSeen   int64               `json:"first_seen"`
	LastSeen    int64               `json:"last_seen"`
	MaxLevel    string              `json:"max_level"`
	ResultCount int64               `json:"result_count"`
	RuleCounts  map[string]int64    `json:"rule_counts"`
	GroupBy     json.RawMessage     `json:"group_by"`
	Entities    map[string][]string `json:"entities"`
	BundleReady bool                `json:"bundle_ready"`
}

// of says what the incident is about: by what it is grouped, or what it holds.
func (in *listedIncident) of() string {
	var parts []string
	if group, err := members(in.GroupBy); err == nil {
		for _, m := range group {
			parts = append(parts, m.name+"="+string(plainText(m.value)))
		}
	}
	for _, of := range slices.Sorted(maps.Keys(in.Entities)) {
		parts = append(parts, of+"="+strings.Join(in.Entities[of], ","))
	}
	return strings.Join(parts, " ")
}

func (in *listedIncident) rules() string {
	var parts []string
	for _, rule := range slices.Sorted(maps.Keys(in.RuleCounts)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", rule, in.RuleCounts[rule]))
	}
	return strings.Join(parts, ", ")
}

// Widths of cells on a terminal.
const incidentOfMost = 60

func (e *env) incidentList(c *cli.Context) error {
	header := []string{"LEVEL", "ID", "RESULTS", "FIRST SEEN", "LAST SEEN", "REPORTED", "OF", "RULES"}
	return listed(e, c, incidentsPath, "incidents", "open incident", header, func(out *console, in *listedIncident) (row []string, color string) {
		level, _ := ast.ParseLevel(in.MaxLevel)
		row = []string{in.MaxLevel, in.ID, strconv.FormatInt(in.ResultCount, 10), rfc3339(in.FirstSeen), rfc3339(in.LastSeen), "no", in.of(), in.rules()}
		if level == ast.LevelNone {
			row[0] = unknownCell
		}
		if in.BundleReady {
			row[5] = "yes"
		}
		if out.format == formatTable {
			row[6], row[7] = terminal.Shorten(row[6], incidentOfMost), beginOf(row[7])
		}
		return row, terminal.ColorOf(level)
	})
}

// oneIncident is the id of the only argument.
func oneIncident(c *cli.Context) (string, error) {
	if id := c.Args().First(); c.NArg() == 1 && id != "" {
		return id, nil
	}
	return "", configFaultf("name one incident by its id (sluice incidents list shows them)")
}

func (e *env) incidentShow(c *cli.Context) error {
	id, err := oneIncident(c)
	if err != nil {
		return err
	}
	_, out, cl, err := e.connect(c)
	if err != nil {
		return err
	}
	defer cl.Close()
	body, err := cl.Ask(c.Context, http.MethodGet, incidentPath(id), nil)
	if err != nil {
		return configFault(err)
	}
	if !out.tabular() {
		return out.writeObject(body)
	}
	shown, err := members(body)
	if err != nil {
		return configFault(cl.Unreadable(http.MethodGet, incidentPath(id), err))
	}
	return out.writeFigures(incidentFigures(shown))
}

// incidentFigures lists the members of an incident, those of objects one by one, and the
// elements of lists below each other.
func incidentFigures(all []member) (list []terminal.Figure) {
	for _, m := range all {
		var seconds int64
		var elements []json.RawMessage
		below, err := members(m.value)
		switch {
		case err == nil:
			for _, x := range below {
				value := string(plainText(x.value))
				var texts []string
				if json.Unmarshal(x.value, &texts) == nil && m.name == "entities" {
					value = strings.Join(texts, ", ")
				}
				list = append(list, terminal.Figure{Name: m.name + " " + x.name, Value: value})
			}
		case json.Unmarshal(m.value, &elements) == nil:
			for i, x := range elements {
				list = append(list, terminal.Figure{Name: fmt.Sprintf("%s %d", m.name, i+1), Value: string(x)})
			}
		case strings.HasSuffix(m.name, "_seen") && json.Unmarshal(m.value, &seconds) == nil:
			list = append(list, terminal.Figure{Name: m.name, Value: rfc3339(seconds)})
		default:
			f := terminal.Figure{Name: m.name, Value: string(plainText(m.value))}
			if m.name == "max_level" {
				level, _ := ast.ParseLevel(f.Value)
				f.Color = terminal.ColorOf(level)
			}
			list = append(list, f)
		}
	}
	return list
}

func (e *env) incidentExport(c *cli.Context) error {
	l, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	id, err := oneIncident(c)
	if err != nil {
		return err
	}
	format := c.String("bundle-format")
	if !c.IsSet("bundle-format") {
		format = "json"
	}
	switch {
	case format != "json" && format != "markdown":
		return configFaultf("--bundle-format: %q is not allowed (json, markdown)", format)
	case c.IsSet("output") && c.String("output") == "":
		return configFaultf("--output: the path is empty")
	}
	if out.tabular() || format == "markdown" && out.explicit {
		out.fallback(map[string]string{"json": "JSON", "markdown": "Markdown"}[format])
	}
	cl, err := e.client(c, l, clientTimeout)
	if err != nil {
		return err
	}
	defer cl.Close()
	body, err := cl.Ask(c.Context, http.MethodGet, incidentPath(id)+"/bundle?format="+format, nil)
	if err != nil {
		return configFault(err)
	}
	if path := c.String("output"); path != "" {
		if err := disk.Replace(path, body, 0o600); err != nil {
			return configFaultf("--output: %w", err)
		}
		out.note("wrote %s", path)
		return nil
	}
	if out.terminal && format == "markdown" {
		body = printableLines(body)
	}
	_, err = out.Out.Write(body)
	return written(err)
}

// printableLines keeps a text of lines from steering the terminal.
func printableLines(text []byte) []byte {
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		lines[i] = []byte(terminal.Printable(string(line)))
	}
	return bytes.Join(lines, []byte("\n"))
}
