package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/graph/alert/dedup"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/internal/plural"
	"github.com/sluicehq/sluice/sigma/ast"
)

// newIDs makes UUIDs of version 4, the same ones in every run: an evaluation of the same
// events has the same outcome.
func newIDs() func() string {
	from := rand.NewChaCha8([32]byte([]byte("sluice engine eval, incident ids")))
	return func() string {
		var id graph.DeliveryID
		_, _ = from.Read(id[:]) // never fails
		id[6] = id[6]&0x0f | 0x40
		id[8] = id[8]&0x3f | 0x80
		return id.UUID()
	}
}

// recordRenderer appends a record of a second to a page.
type recordRenderer func(g *page, r graph.Record, at int64)

// recordRenderer is that of the printer's form.
func (p *printer) recordRenderer() recordRenderer {
	switch {
	case p.rows != nil:
		return func(g *page, r graph.Record, at int64) {
			row := recordCells(r)
			when := unknownCell
			if at > 0 {
				when = rfc3339(at)
			}
			row.Cells = append([]string{when, unknownCell}, row.Cells...)
			g.rows = append(g.rows, row)
		}
	case p.table != nil:
		return func(g *page, r graph.Record, _ int64) { g.rows = append(g.rows, recordCells(r)) }
	}
	return func(g *page, r graph.Record, _ int64) {
		g.text, _ = p.form.Append(g.text, graph.Payload{Record: r}, nil) // these forms write everything
		g.text = append(g.text, '\n')
	}
}

// fitRecords makes the columns of rows wide enough for the records that a pipeline gives.
func (p *printer) fitRecords(f *alert.File) {
	if p.rows == nil {
		return
	}
	if f.Dedup != nil {
		p.rows.Want(terminal.Type, string(dedup.Resolved), len(dedup.Resolved))
	}
	if f.Group != nil {
		id := 16
		if f.Group.Mode == incident.EntityGraph {
			id = 36
		}
		p.rows.Want(terminal.Rule, "incident "+strings.Repeat("0", id), terminal.RuleMost)
		p.rows.Want(terminal.Type, string(incident.GroupInterval), len(incident.GroupInterval))
	}
}

// record is what tables show of the records of an alert pipeline.
type record struct {
	Title    string `json:"rule_title"`
	Level    string `json:"level"`
	Incident string `json:"incident_id"`
	Trigger  string `json:"trigger"`
	MaxLevel string `json:"max_level"`
	Results  int    `json:"result_count"`
	Rules    map[string]int
	GroupBy  map[string]json.RawMessage `json:"group_by"`
	Entities map[string][]string        `json:"entities"`
	Alert    struct {
		State  string                     `json:"dedup_state"`
		Fires  int                        `json:"dedup_fire_count"`
		Fields map[string]json.RawMessage `json:"dedup_fields"`
	} `json:"enrichments"`
}

// recordCells are the columns of a table. A record is read from its native line: there are
// few of them.
func recordCells(r graph.Record) terminal.Row {
	var in record
	_ = json.Unmarshal(r.AppendNative(nil), &in) // it is an object
	if r.Kind() != incident.KindIncident {
		return recordRow(in.Level, in.Title, in.Alert.State, fmt.Sprintf("fired %s", times(in.Alert.Fires)), selected(in.Alert.Fields))
	}
	about := selected(in.GroupBy)
	for _, selector := range slices.Sorted(maps.Keys(in.Entities)) {
		about = append(about, selector+"="+strings.Join(in.Entities[selector], ","))
	}
	return recordRow(in.MaxLevel, "incident "+in.Incident, in.Trigger, plural.Of(in.Results, "result"), about)
}

func recordRow(level, rule, kind, count string, about []string) terminal.Row {
	l, err := ast.ParseLevel(level)
	if err != nil {
		l = ast.LevelNone
	}
	detail := strings.Join(append([]string{count}, about...), ", ")
	return cells(l, rule, kind, terminal.Cut(detail, detailWidth))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// selected are selectors with the values that they found.
func selected(of map[string]json.RawMessage) (all []string) {
	for _, selector := range slices.Sorted(maps.Keys(of)) {
		if value := of[selector]; string(value) != "null" {
			all = append(all, selector+"="+string(plainText(value)))
		}
	}
	return all
}

// sumUpAlerts says what the alert pipeline did.
func (e *evaluation) sumUpAlerts(out *console) {
	a := e.alerts
	if a == nil {
		return
	}
	out.summary("Alert pipeline: %d silenced, %d inhibited, %d folded; %s of alerts, %s of incidents.",
		a.silenced, a.inhibited, a.folded, plural.Of(a.summaries, "record"), plural.Of(a.aboutIncidents, "record"))
	if a.untimed > 0 {
		out.note("%s came before the first event with a time: for the alert pipeline that was 1970 (--timestamp-field names the field of the time)",
			plural.Of(a.untimed, "result"))
	}
	if a.unstored > 0 {
		e.warn(fmt.Sprintf("%s went on without deduplication, because there were too many active alerts (raise dedup.max_active_alerts)", plural.Of(a.unstored, "result")))
	}
	if a.ungrouped > 0 {
		e.warn(fmt.Sprintf("%s went on without an incident, because too many were open (raise group.caps.max_open_incidents)", plural.Of(a.ungrouped, "result")))
	}
	if a.evicted > 0 {
		e.warn(fmt.Sprintf("%s of inhibition went before their time, because there were too many (choose equal with fewer values, or a shorter duration)", plural.Of(a.evicted, "source")))
	}
}
