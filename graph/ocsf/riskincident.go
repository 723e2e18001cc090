package ocsf

import (
	"strconv"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/event"
)

// RiskIncident is what the risk layer reports of an entity that crossed a threshold.
type RiskIncident struct {
	ID                      string
	EntityType, EntityValue string
	Trigger                 string // score or tactic_count
	Score                   int64
	ScoreThreshold          *int64 // nil when none is configured
	TacticCount             int64
	TacticCountThreshold    *int64   // nil when none is configured
	Tactics                 []string // of ATT&CK, with hyphens
	Sources                 []string // rules
	SourceCount             int64
	WindowStart, WindowEnd  int64 // Unix seconds
	ResultCount             int64
	Refs, Results           []byte // JSON arrays, nil for none
}

const triggerTacticCount = "tactic_count"

func (f Form) appendRiskIncident(dst []byte, i *RiskIncident, e *graph.Envelope) []byte {
	about := []resource{{i.EntityType, i.EntityValue}}
	h := head{seconds: i.WindowEnd}
	dst, title := appendMessage(h.append(dst), i.title())
	dst = f.appendRecord(dst, title, i.ID, "risk accumulator", e)
	dst = append(appendAnalytics(appendAttacks(dst, i.Tactics, attackNamed), i.Sources), '}')
	dst = appendMillis(append(dst, `,"start_time":`...), i.WindowStart)
	dst = appendMillis(append(dst, `,"end_time":`...), i.WindowEnd)
	dst = strconv.AppendInt(append(dst, `,"count":`...), i.ResultCount, 10)
	dst = strconv.AppendInt(append(dst, `,"risk_score":`...), i.Score, 10)
	dst, at := openUnmapped(appendActor(appendResources(dst, about), about))
	dst = event.AppendQuoted(append(dst, `,"trigger":`...), i.Trigger)
	dst = strconv.AppendInt(append(dst, `,"tactic_count":`...), i.TacticCount, 10)
	if n := i.TacticCountThreshold; n != nil {
		dst = strconv.AppendInt(append(dst, `,"tactic_count_threshold":`...), *n, 10)
	}
	if n := i.ScoreThreshold; n != nil {
		dst = strconv.AppendInt(append(dst, `,"score_threshold":`...), *n, 10)
	}
	dst = strconv.AppendInt(append(dst, `,"source_count":`...), i.SourceCount, 10)
	return closeUnmapped(appendSamples(dst, i.Refs, i.Results), at)
}

func (i *RiskIncident) title() string {
	crossed := "risk threshold"
	if i.Trigger == triggerTacticCount {
		crossed = "tactic-count threshold"
	}
	return crossed + " crossed for " + i.EntityType + " " + i.EntityValue
}
