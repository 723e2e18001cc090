// Package sample keeps results without their events: for the records of alerts and
// incidents, and to see later whether a silence or an inhibition holds them.
package sample

import (
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/native"
	"github.com/sluicehq/sluice/sigma/event"
)

// Append appends the native line of r, without its line feed and without the members
// event, events and event_refs.
func Append(dst []byte, r *graph.Result) []byte {
	bare := *r
	Strip(&bare)
	return bare.AppendNative(dst)
}

// Strip takes the events out of r and returns how many bytes they held. What r shares with
// other results is copied, not changed.
func Strip(r *graph.Result) (freed int) {
	switch {
	case r.Detection != nil && r.Detection.Extra != nil && r.Detection.Extra.Event != nil:
		d, extra := *r.Detection, *r.Detection.Extra
		freed = len(extra.Event)
		extra.Event = nil
		d.Extra = &extra
		r.Detection = &d
	case r.Correlation != nil && (r.Correlation.Events != nil || r.Correlation.Refs != nil):
		c := *r.Correlation
		freed = c.Held()
		c.Events, c.Refs = nil, nil
		freed -= c.Held()
		r.Correlation = &c
	}
	return freed
}

// Read reads what Append wrote, for selectors and matchers.
func Read(line []byte) (*graph.Result, error) { return native.Parse(line) }

// With returns a JSON object with a member set to a value, which is JSON. A member of that
// name is replaced in its place; else the new one comes last. The object is compact, or
// empty for none, and is not changed; replaced reports whether it had the member.
func With(object []byte, member string, value []byte) (with []byte, replaced bool) {
	with = make([]byte, 0, len(object)+len(member)+len(value)+len(`{"":,}`))
	with = append(with, '{')
	if len(object) > 0 {
		for key, v := range event.ValueOf(object).Members {
			if len(with) > 1 {
				with = append(with, ',')
			}
			with = append(append(with, key...), ':')
			if event.KeyIs(key, member) {
				with, replaced = append(with, value...), true
				continue
			}
			with = append(with, v.Raw...)
		}
	}
	if !replaced {
		if len(with) > 1 {
			with = append(with, ',')
		}
		with = append(append(event.AppendQuoted(with, member), ':'), value...)
	}
	return append(with, '}'), replaced
}
