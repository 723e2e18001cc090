package correlate

import (
	"io"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// Feature is the row of the stage. A rule set without correlations leaves what is
// stored of them as it is.
func (s *Stage) Feature() actors.Feature {
	windows := actors.SavedPart{Stage: graph.StageCorrelate, Name: "correlation", Version: correlation.SnapshotVersion}
	if s.set.Correlates() {
		windows.Restore = s.restore
	}
	return actors.Feature{
		Name: string(graph.StageCorrelate), Actors: []actors.Actor{s}, Saved: []actors.SavedPart{windows}, Status: s.status,
	}
}

// restore gives the first instance of the actor the windows that are stored, as far
// as they fit the correlations of the set.
func (s *Stage) restore(r io.Reader, now time.Time) error {
	e := s.empty()
	back, err := e.Restore(r, now.Unix())
	if err != nil {
		return err
	}
	for _, lost := range back.Dropped {
		s.log.Warn("correlation state dropped", "correlation", lost.Correlation, "reason", lost.Reason, "groups", lost.Groups)
	}
	if back.Evicted > 0 {
		s.log.Warn("correlation state evicted at restore", "groups", back.Evicted,
			"max_state_entries", s.limits.Groups, "max_state_bytes", s.limits.Bytes)
	}
	s.log.Info("correlation state restored", "groups", back.Groups, "saved_at", time.Unix(back.SavedAt, 0).UTC().Format(time.RFC3339))
	s.first = e
	s.metrics.hold(e)
	return nil
}
