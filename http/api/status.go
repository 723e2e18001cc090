package api

import (
	"net/http"
	"time"
)

// Status tells the totals of the process without asking an actor.
type Status interface {
	Status() StatusReport
}

// StatusReport is what GET /api/v1/status shows.
type StatusReport struct {
	DetectionRules          int
	CorrelationRules        int
	CorrelationStateEntries int
	EventsProcessed         uint64
	DetectionMatches        uint64
	CorrelationMatches      uint64
	Uptime                  time.Duration
	DynamicSources          *DynamicSources // nil when no source is declared
}

// DynamicSources sums over all declared sources.
type DynamicSources struct {
	Total         int    `json:"total"`
	ResolvesTotal uint64 `json:"resolves_total"`
	ErrorsTotal   uint64 `json:"errors_total"`
	CacheHits     uint64 `json:"cache_hits"`
}

type statusReport struct {
	Status                  string          `json:"status"`
	DetectionRules          int             `json:"detection_rules"`
	CorrelationRules        int             `json:"correlation_rules"`
	CorrelationStateEntries int             `json:"correlation_state_entries"`
	EventsProcessed         uint64          `json:"events_processed"`
	DetectionMatches        uint64          `json:"detection_matches"`
	CorrelationMatches      uint64          `json:"correlation_matches"`
	UptimeSeconds           float64         `json:"uptime_seconds"`
	DynamicSources          *DynamicSources `json:"dynamic_sources,omitempty"`
}

func (res *Resources) getStatus(w http.ResponseWriter, _ *http.Request) {
	s := res.Status.Status()
	writeJSON(w, http.StatusOK, statusReport{
		Status:                  "running",
		DetectionRules:          s.DetectionRules,
		CorrelationRules:        s.CorrelationRules,
		CorrelationStateEntries: s.CorrelationStateEntries,
		EventsProcessed:         s.EventsProcessed,
		DetectionMatches:        s.DetectionMatches,
		CorrelationMatches:      s.CorrelationMatches,
		UptimeSeconds:           s.Uptime.Seconds(),
		DynamicSources:          s.DynamicSources,
	})
}
