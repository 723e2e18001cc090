package alert

// Held is how many alerts are active, and how many incidents are open. It is cheap, however
// many silences there are.
func (p *Pipeline) Held() (alerts, incidents int) {
	if p.dedup != nil {
		alerts = p.dedup.Len()
	}
	if p.incidents != nil {
		incidents, _ = p.incidents.Counts()
	}
	return alerts, incidents
}
