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
)

func (e *env) statusCommand() *cli.Command {
	return command("status", "show the counters of a running daemon", "", clientFlags(), e.status)
}

func (e *env) status(c *cli.Context) error {
	l, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	cl, err := e.client(c, l)
	if err != nil {
		return err
	}
	body, err := cl.ask(c.Context, http.MethodGet, "/api/v1/status")
	if err != nil {
		return err
	}
	status, err := members(body)
	if err != nil {
		return configFaultf("GET %s/api/v1/status: 200 OK: unreadable answer: %w", cl.base, err)
	}
	if out.tabular() {
		return out.writeTable([]string{"METRIC", "VALUE"}, statusRows(status))
	}
	var b bytes.Buffer
	if out.pretty() {
		err = json.Indent(&b, body, "", "  ")
	} else {
		err = json.Compact(&b, body)
	}
	if err != nil {
		return configFault(err)
	}
	_, err = fmt.Fprintf(e.Out, "%s\n", bytes.TrimSpace(b.Bytes()))
	return err
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

// statusRows lists the members in their order, and those of objects by name.
func statusRows(status []member) [][]string {
	var rows [][]string
	for _, m := range status {
		var text string
		var seconds float64
		if below, err := members(m.value); err == nil {
			slices.SortFunc(below, func(a, b member) int { return strings.Compare(a.name, b.name) })
			for _, x := range below {
				rows = append(rows, []string{m.name + "." + x.name, string(x.value)})
			}
			continue
		}
		switch {
		case m.name == "uptime_seconds" && json.Unmarshal(m.value, &seconds) == nil:
			m.name, text = "uptime", uptime(time.Duration(seconds*float64(time.Second)))
		case json.Unmarshal(m.value, &text) != nil:
			text = string(m.value)
		}
		rows = append(rows, []string{m.name, text})
	}
	return rows
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
