package dedup

import (
	"bufio"
	"io"
	"slices"
	"strconv"

	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/sigma/event"
)

// View is what a store held when it was exported. It never changes, and any goroutine may
// use it.
type View struct{ alerts []saved }

// saved is an alert of a view.
type saved struct {
	*opening
	lastSeen, lastEmitted int64
	fires, emitted        int64
	incident              string // its id, empty for none
}

// Export returns the alerts as they are. id is the id of an incident that one names, empty
// when it is gone.
func (s *Store) Export(id func(incident.Ref) string) *View {
	v := &View{alerts: make([]saved, 0, len(s.alerts))}
	for a := range s.slots.all {
		var in string
		if a.in != (incident.Ref{}) {
			in = id(a.in)
		}
		v.alerts = append(v.alerts, saved{a.opening, a.lastSeen, a.lastEmitted, a.fires, a.emitted, in})
	}
	return v
}

// Len is the number of alerts.
func (v *View) Len() int { return len(v.alerts) }

// Encode writes the alerts for Restore, in the order of output: a JSON array of pairs of a
// fingerprint as it is shown and an object.
func (v *View) Encode(w io.Writer) error {
	sorted := slices.Clone(v.alerts)
	slices.SortFunc(sorted, func(x, y saved) int { return x.compare(y.opening) })
	out := bufio.NewWriterSize(w, 64<<10)
	b := []byte{'['}
	for i := range sorted {
		if i > 0 {
			b = append(b, ',')
		}
		b = sorted[i].append(b)
		if _, err := out.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	if _, err := out.Write(append(b, ']')); err != nil {
		return err
	}
	return out.Flush()
}

func (a *saved) append(dst []byte) []byte {
	dst = append(append(append(dst, `["`...), a.fingerprint()...), `",{"key":`...)
	dst = appendKeyJSON(dst, a.key)
	dst = strconv.AppendInt(append(dst, `,"first_seen":`...), a.first, 10)
	dst = strconv.AppendInt(append(dst, `,"last_seen":`...), a.lastSeen, 10)
	dst = strconv.AppendInt(append(dst, `,"last_emitted":`...), a.lastEmitted, 10)
	dst = strconv.AppendInt(append(dst, `,"fire_count":`...), a.fires, 10)
	dst = strconv.AppendInt(append(dst, `,"emitted_count":`...), a.emitted, 10)
	if a.incident != "" {
		dst = event.AppendQuoted(append(dst, `,"incident_id":`...), a.incident)
	}
	dst = append(append(dst, `,"fields":`...), a.values()...)
	dst = append(append(dst, `,"sample":`...), a.sample()...)
	return append(dst, "}]"...)
}

// appendKeyJSON appends a key as an array of texts: the key of the rule, and each selector
// with its value, null for one that is absent.
func appendKeyJSON(dst []byte, key string) []byte {
	dst = append(dst, '[')
	for first := true; key != ""; first = false {
		var part string
		var absent bool
		if part, absent, key = cut(key); !first {
			dst = append(dst, ',')
		}
		if absent {
			dst = append(dst, "null"...)
			continue
		}
		dst = event.AppendQuoted(dst, part)
	}
	return append(dst, ']')
}
