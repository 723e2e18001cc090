package alert

// Wake is the earliest second behind now at which a tick may do anything, and false if there
// is none without another result. It holds behind a tick at now that had no records: what is
// due then is held. Unlike Next it looks at all of the state, so it is for long gaps.
func (p *Pipeline) Wake(now int64) (at int64, ok bool) {
	earlier := func(t int64, is bool) {
		if is && t > now && (!ok || t < at) {
			at, ok = t, true
		}
	}
	if p.dedup != nil {
		earlier(p.dedup.NextBehind(now))
	}
	if p.incidents != nil {
		earlier(p.incidents.NextBehind(now))
	}
	for _, held := range p.mutes.before {
		earlier(held.until, true)
	}
	return at, ok
}
