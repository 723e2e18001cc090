package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/client"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/sources"
)

func (e *env) statusCommand() *cli.Command {
	return command("status", "show the counters of a running daemon", "", clientFlags(), e.status)
}

func (e *env) status(c *cli.Context) error {
	_, out, cl, err := e.connect(c)
	if err != nil {
		return err
	}
	defer cl.Close()
	const path = "/api/v1/status"
	body, err := cl.Ask(c.Context, http.MethodGet, path, nil)
	if err != nil {
		return configFault(err)
	}
	status, err := members(body)
	if err != nil {
		return configFault(cl.Unreadable(http.MethodGet, path, err))
	}
	figures := statusFigures(status)
	switch {
	case !out.tabular():
		return out.writeObject(body)
	case out.prettily():
		figures = append(figures, e.moreFigures(c, out, cl)...)
	}
	return out.writeFigures(figures)
}

// prettily reports whether figures are laid out for somebody who looks at a terminal.
func (c *console) prettily() bool { return c.terminal && c.format == formatTable }

// writeFigures lays figures out, or writes them as a table.
func (c *console) writeFigures(figures []terminal.Figure) error {
	if c.prettily() {
		return written(terminal.WriteFigures(c.Out, c.columns(), c.color, figures))
	}
	t := c.table([]string{"METRIC", "VALUE"})
	for _, f := range figures {
		if err := t.Row([]string{f.Name, f.Value}, f.Color); err != nil {
			return written(err)
		}
	}
	return written(t.Flush())
}

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members lists the members of a JSON object in their order.
func members(object []byte) (list []member, err error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(err, errors.New("not an object"))
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: fmt.Sprint(t)}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	_, err = dec.Token()
	return list, err
}

// statusFigures lists the members in their order, and those of objects by name.
func statusFigures(status []member) (list []terminal.Figure) {
	for _, m := range status {
		f := terminal.Figure{Name: m.name}
		var seconds float64
		var reload reloadOutcome
		if m.name == "last_reload" && json.Unmarshal(m.value, &reload) == nil {
			list = append(list, reload.figure())
			continue
		}
		var inputs []sources.Connection
		if m.name == "inputs" && json.Unmarshal(m.value, &inputs) == nil {
			for _, in := range inputs {
				list = append(list, inputFigure(in))
			}
			continue
		}
		if below, err := members(m.value); err == nil {
			slices.SortFunc(below, func(a, b member) int { return strings.Compare(a.name, b.name) })
			for _, x := range below {
				list = append(list, terminal.Figure{Name: m.name + "." + x.name, Value: string(x.value)})
			}
			continue
		}
		switch {
		case m.name == "reload_pending" && string(m.value) == "false": // it is news only while it lasts
			continue
		case m.name == "uptime_seconds" && json.Unmarshal(m.value, &seconds) == nil:
			f.Name, f.Value = "uptime", uptime(time.Duration(seconds*float64(time.Second)))
		case json.Unmarshal(m.value, &f.Value) != nil:
			f.Value = string(m.value)
		}
		if m.name == "parse_errors" && f.Value != "0" {
			f.Color = terminal.Yellow
		}
		list = append(list, f)
	}
	return list
}

func (r *reloadOutcome) figure() terminal.Figure {
	f := terminal.Figure{Name: "last_reload", Value: "ok " + r.At.Format(time.RFC3339)}
	if !r.OK {
		f.Value, f.Color = fmt.Sprintf("failed %s: %s", r.At.Format(time.RFC3339), r.Error), terminal.Red
	}
	return f
}

// inputFigure says how an input stands with the server that it reads from.
func inputFigure(in sources.Connection) terminal.Figure {
	f := terminal.Figure{Name: "input " + in.Input, Value: "connected since " + in.Since.Format(time.RFC3339)}
	if !in.Connected {
		f.Value, f.Color = "not "+f.Value, terminal.Red
		if in.LastError != "" {
			f.Value += ": " + in.LastError
		}
	}
	return f
}

// uptime writes the two largest units that are not zero: 5m 12s.
func uptime(d time.Duration) string {
	var parts []string
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		n := d / u.size
		d -= n * u.size
		if n > 0 || len(parts) > 0 || u.name == "s" {
			parts = append(parts, fmt.Sprintf("%d%s", n, u.name))
		}
	}
	return strings.Join(parts[:min(2, len(parts))], " ")
}

// moreFigures are those that people look for beside the status: documents of the
// rules that were rejected, the input queue and the sinks. What the daemon does not
// tell this client is left out with a note.
func (e *env) moreFigures(c *cli.Context, out *console, cl *client.Client) (list []terminal.Figure) {
	ask := func(path string, answer any) bool {
		body, err := cl.Ask(c.Context, http.MethodGet, path, nil)
		if err == nil {
			err = json.Unmarshal(body, answer)
		}
		if err != nil {
			out.note("not shown: %v", err)
		}
		return err == nil
	}
	var rules struct {
		Rejected []struct{} `json:"rejected"`
		Excluded int        `json:"excluded"`
	}
	if ask("/api/v1/rules", &rules) {
		f := terminal.Figure{Name: "rules_rejected", Value: fmt.Sprint(len(rules.Rejected))}
		if len(rules.Rejected) > 0 {
			f.Color = terminal.Yellow
		}
		list = append(list, f)
		if rules.Excluded > 0 {
			list = append(list, terminal.Figure{Name: "rules_excluded", Value: fmt.Sprint(rules.Excluded)})
		}
	}
	var actors struct {
		Actors []struct {
			Name, Kind, State string
			Mailbox           struct{ Depth, Capacity int }
		}
	}
	if !ask("/api/v1/actors", &actors) {
		return list
	}
	for _, a := range actors.Actors {
		f := terminal.Figure{Value: fmt.Sprintf("%d of %d", a.Mailbox.Depth, a.Mailbox.Capacity)}
		switch {
		case a.Name == "parse":
			f.Name = "input_queue"
		case a.Kind == "sink":
			f.Name = a.Name
		default:
			continue
		}
		if a.State != "running" {
			f.Value, f.Color = a.State+", "+f.Value, terminal.Yellow
		}
		list = append(list, f)
	}
	return list
}
