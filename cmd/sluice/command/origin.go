package command

import (
	"slices"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/event"
)

// origins finds when and where events happened, as far as they tell. Any number of
// goroutines may use it.
type origins struct{ times, hosts []event.Path }

// hostFields name the host of an event: the first that has a text.
var hostFields = [...]string{
	"Computer", "ComputerName", "Hostname", "hostname", "host.name", "host.hostname", "winlog.computer_name",
	"Event.System.Computer", "resource.host.name",
}

// unknownCell stands for what an event does not tell.
const unknownCell = "-"

func newOrigins(set *engine.Set) origins {
	var o origins
	for _, name := range slices.Concat(set.Options().TimestampFields, engine.DefaultTimestampFields()) {
		o.times = append(o.times, event.ParsePath(name, 0))
	}
	for _, name := range hostFields {
		o.hosts = append(o.hosts, event.ParsePath(name, 0))
	}
	return o
}

// Times between which an event can have happened, in seconds since 1970. A source
// without a clock says other ones.
const (
	timeFirst = 1          // of 1970
	timeEnd   = 4102444800 // the year 2100
)

// when returns the time of the event itself, never that of its arrival. A time at which
// nothing happens is shown as the event writes it.
func (o *origins) when(e event.Value) string {
	var hits []event.Hit
	for i := range o.times {
		if hits = o.times[i].Resolve(hits[:0], e, false); len(hits) != 1 {
			continue
		}
		switch sec, ok, _ := hits[0].Instant(nil); {
		case ok && timeFirst <= sec && sec < timeEnd:
			return rfc3339(sec)
		case ok:
			return terminal.Cut(textOf(hits[0].Value), maxCell)
		}
	}
	return unknownCell
}

func rfc3339(sec int64) string { return time.Unix(sec, 0).UTC().Format("2006-01-02T15:04:05Z") }

// where returns the host of the event.
func (o *origins) where(e event.Value) string {
	var hits []event.Hit
	for i := range o.hosts {
		hits = o.hosts[i].Resolve(hits[:0], e, false)
		for _, h := range hits {
			if text := textOf(h.Value); text != "" {
				return terminal.Cut(text, maxCell)
			}
		}
	}
	return unknownCell
}

// textOf is the text of a value, of a list that of the first element with one.
func textOf(v event.Value) string {
	for e := range v.Elements {
		if text, ok := e.AppendText(nil); ok && len(text) > 0 {
			return string(text)
		}
	}
	text, _ := v.AppendText(nil)
	return string(text)
}
