package alert

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/sluicehq/sluice/graph/alert/dedup"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/alert/inhibit"
)

// SnapshotVersion is the version of what View.Encode writes.
const SnapshotVersion = 1

// View is the state of a pipeline at one moment. It never changes, and any goroutine may
// read it while the pipeline goes on.
type View struct {
	revision  uint64
	alerts    *dedup.View
	incidents *incident.View
	sources   *inhibit.View
}

// Export returns a view of the state, without the silences.
func (p *Pipeline) Export() *View {
	v := &View{revision: p.revision, sources: p.inhibit.Export()}
	if p.incidents != nil {
		v.incidents = p.incidents.Export()
	}
	if p.dedup != nil {
		v.alerts = p.dedup.Export(p.incidentID)
	}
	return v
}

// incidentID is the id of the incident that an alert names, "" when there is none.
func (p *Pipeline) incidentID(in incident.Ref) string {
	if p.incidents == nil {
		return ""
	}
	return p.incidents.ID(in)
}

// Revision is that of the state: views of one revision are equal.
func (v *View) Revision() uint64 { return v.revision }

// Encode writes the state as one JSON object:
//
//	{"version":1,"dedup":[[fingerprint,alert],...],"incidents":[...],"inhibit_sources":[...]}
func (v *View) Encode(w io.Writer, _ int64) error {
	out := bufio.NewWriterSize(w, 64<<10)
	text := func(s string) { _, _ = out.WriteString(s) } // Flush tells of errors
	text(`{"version":` + strconv.Itoa(SnapshotVersion) + `,"dedup":`)
	if v.alerts == nil {
		text("[]")
	} else if err := v.alerts.Encode(out); err != nil {
		return err
	}
	text(`,"incidents":`)
	if v.incidents == nil {
		text("[]")
	} else if err := v.incidents.Encode(out); err != nil {
		return err
	}
	text(`,"inhibit_sources":`)
	if err := json.NewEncoder(out).Encode(v.sources.Sources()); err != nil {
		return err
	}
	text("}")
	return out.Flush()
}

// Restored says what was read back.
type Restored struct {
	Alerts, Incidents, Sources int
	// Dropped are those whose section is gone, or whose time is over.
	DroppedAlerts, DroppedIncidents, DroppedSources int
}

// Restore gives a pipeline without state that of a view. Alerts and incidents whose time is
// over come back, and have their records at the next ticks. After an error the pipeline may
// hold a part of it, and is of no use.
func (p *Pipeline) Restore(r io.Reader, now int64) (Restored, error) {
	var in struct {
		Version   int              `json:"version"`
		Alerts    json.RawMessage  `json:"dedup"`
		Incidents json.RawMessage  `json:"incidents"`
		Sources   []inhibit.Source `json:"inhibit_sources"`
	}
	var back Restored
	if err := json.NewDecoder(bufio.NewReader(r)).Decode(&in); err != nil {
		return back, fmt.Errorf("read the state of the alert pipeline: %w", err)
	}
	if in.Version != SnapshotVersion {
		return back, fmt.Errorf("the state of the alert pipeline has version %d, not %d", in.Version, SnapshotVersion)
	}
	var err error
	if p.incidents != nil {
		back.Incidents, err = p.incidents.Restore(array(in.Incidents), now)
	} else {
		back.DroppedIncidents, err = length(in.Incidents)
	}
	if err != nil {
		return back, fmt.Errorf("read incidents: %w", err)
	}
	if p.dedup != nil {
		back.Alerts, err = p.dedup.Restore(json.NewDecoder(bytes.NewReader(array(in.Alerts))), p.named)
	} else {
		back.DroppedAlerts, err = length(in.Alerts)
	}
	if err != nil {
		return back, fmt.Errorf("read alerts: %w", err)
	}
	back.DroppedSources = p.inhibit.Restore(in.Sources, now)
	back.Sources = len(in.Sources) - back.DroppedSources
	p.revision++
	return back, nil
}

// named is the incident of an id, which an alert names.
func (p *Pipeline) named(id string) incident.Ref {
	if p.incidents == nil || id == "" {
		return incident.Ref{}
	}
	in, ok := p.incidents.Find(id)
	if ok {
		p.incidents.Name(in)
	}
	return in
}

// array is a JSON array, which may be absent.
func array(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return []byte("[]")
	}
	return raw
}

var errNoList = errors.New("want a list")

// length is the number of elements of a JSON array, which may be absent.
func length(array []byte) (int, error) {
	if len(array) == 0 {
		return 0, nil
	}
	var all []json.RawMessage
	if json.Unmarshal(array, &all) != nil {
		return 0, errNoList
	}
	return len(all), nil
}

// ContinueRevision makes the revisions of a pipeline follow those of the one before it.
func (p *Pipeline) ContinueRevision(revision uint64) { p.revision = max(p.revision, revision+1) }

// Revision is that of the state: it grows with every change that a checkpoint has to have.
func (p *Pipeline) Revision() uint64 { return p.revision }
