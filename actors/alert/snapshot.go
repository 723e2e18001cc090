package alert

import (
	"bytes"
	"io"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert"
)

// Feature is the row of the stage. Without a file what is stored of a pipeline stays as it
// is.
func (s *Stage) Feature() actors.Feature {
	f := actors.Feature{Name: string(graph.StageAlert), Actors: []actors.Actor{s}, Close: s.rows.close}
	part := actors.SavedPart{Stage: graph.StageAlert, Name: "alert", Version: alert.SnapshotVersion}
	if s.source != nil {
		part.Restore = s.restore
		f.Components = []actors.Component{s.source.component(s.Client())}
	}
	f.Saved = []actors.SavedPart{part}
	return f
}

// restore gives the first instance of the actor the state that is stored.
func (s *Stage) restore(r io.Reader, now time.Time) error {
	p := s.empty()
	back, err := p.Restore(r, now.Unix())
	if err != nil {
		return err
	}
	s.log.Info("state of the alert pipeline restored", "alerts", back.Alerts, "incidents", back.Incidents, "inhibit_sources", back.Sources)
	if back.DroppedAlerts+back.DroppedIncidents > 0 {
		s.log.Warn("state of the alert pipeline dropped: the file has no section for it", "alerts", back.DroppedAlerts, "incidents", back.DroppedIncidents)
	}
	s.first = p
	s.metrics.hold(p.Counts(now.Unix()))
	return nil
}

// revive returns a pipeline with the state of a view.
func (s *Stage) revive(v *alert.View, now int64) *alert.Pipeline {
	p := s.empty()
	var saved bytes.Buffer
	err := v.Encode(&saved, now)
	if err == nil {
		_, err = p.Restore(&saved, now)
	}
	if err != nil {
		s.log.Warn("state of the alert pipeline lost", "err", err)
		return s.empty()
	}
	return p
}
