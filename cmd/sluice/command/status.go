package command

import (
	"bytes"
	"encoding/json"
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
	var status map[string]any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&status); err != nil {
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

// statusRows lists the known members in their order, then dynamic_sources.
func statusRows(status map[string]any) [][]string {
	var rows [][]string
	for _, key := range []string{
		"status", "detection_rules", "correlation_rules", "correlation_state_entries", "events_processed",
		"detection_matches", "correlation_matches",
	} {
		if v, ok := status[key]; ok {
			rows = append(rows, []string{key, fmt.Sprint(v)})
		}
	}
	if v, ok := status["uptime_seconds"].(json.Number); ok {
		seconds, _ := v.Float64()
		rows = append(rows, []string{"uptime", uptime(time.Duration(seconds * float64(time.Second)))})
	}
	if sources, ok := status["dynamic_sources"].(map[string]any); ok {
		var below [][]string
		for k, v := range sources {
			below = append(below, []string{"dynamic_sources." + k, fmt.Sprint(v)})
		}
		slices.SortFunc(below, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
		rows = append(rows, below...)
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
