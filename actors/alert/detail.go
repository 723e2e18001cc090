package alert

// Detail is what the stage's record shows beside the common members. What is not configured
// is left out.
type Detail struct {
	Silence      SilenceDetail  `json:"silence"`
	Inhibit      *InhibitDetail `json:"inhibit,omitempty"`
	Dedup        *DedupDetail   `json:"dedup,omitempty"`
	Group        *GroupDetail   `json:"group,omitempty"`
	TailSessions int            `json:"tail_sessions"`
	Quarantined  int64          `json:"quarantined"`
}

// SilenceDetail counts the silences the stage holds.
type SilenceDetail struct {
	Active int `json:"active"`
	Total  int `json:"total"`
}

// InhibitDetail counts inhibition rules, and what inhibits.
type InhibitDetail struct {
	Rules   int `json:"rules"`
	Sources int `json:"sources"`
}

// DedupDetail counts what results are folded into.
type DedupDetail struct {
	ActiveAlerts int `json:"active_alerts"`
}

// GroupDetail counts incidents: those that were reported, and those that wait for it.
type GroupDetail struct {
	Open     int `json:"open"`
	Batching int `json:"batching"`
}

func (a *shell) detail(now int64) Detail {
	c := a.pipeline.Counts(now)
	d := Detail{Silence: SilenceDetail{Active: c.ActiveSilences, Total: c.Silences}, Quarantined: a.Cell().Quarantined()}
	if c.InhibitRules > 0 {
		d.Inhibit = &InhibitDetail{Rules: c.InhibitRules, Sources: c.Sources}
	}
	if c.Deduplicates {
		d.Dedup = &DedupDetail{ActiveAlerts: c.Alerts}
	}
	if c.Groups {
		d.Group = &GroupDetail{Open: c.Incidents - c.Batching, Batching: c.Batching}
	}
	return d
}
