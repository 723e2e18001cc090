// Package format turns a line into events, the way the operator said the input
// is written. Nothing here keeps state, so every worker may decode.
package format

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/graph/filter"
	"github.com/sluicehq/sluice/sigma/engine"
)

// Format is how the lines of an input are written.
type Format uint8

// The formats, as docs/configuration.md lists them.
const (
	Auto Format = iota
	JSON
	Syslog
	Plain
	Logfmt
	CEF
)

var names = [...]string{"auto", "json", "syslog", "plain", "logfmt", "cef"}

// Parse reads the name of a format. The error lists the formats there are.
func Parse(name string) (Format, error) {
	i := slices.Index(names[:], name)
	if i < 0 {
		return Auto, fmt.Errorf("unknown input format %q (%s)", name, strings.Join(names[:], ", "))
	}
	return Format(i), nil
}

// String returns the name of the format.
func (f Format) String() string { return names[f] }

// Decoder decodes lines of one format. The zero value is Auto with UTC.
type Decoder struct {
	Format  Format
	Zone    *time.Location // the offset of syslog timestamps that name none; nil is UTC
	KeepBOM bool           // leave a byte order mark at the start of a syslog message
	Filter  *filter.Filter // of the values of JSON; nil is none
}

// NewDecoder reads the settings of an input: the name of its format, and for syslog
// the zone of timestamps that name none, and whether a byte order mark is removed.
func NewDecoder(name, zone string, stripBOM bool) (*Decoder, error) {
	f, err := Parse(name)
	if err != nil {
		return nil, err
	}
	z, err := ParseZone(zone)
	if err != nil {
		return nil, err
	}
	return &Decoder{Format: f, Zone: z, KeepBOM: !stripBOM}, nil
}

// ErrFormat is a line that is not what the format demands.
var ErrFormat = errors.New("line does not have the input format")

// Values reports whether lines of the format may hold several JSON values.
func (f Format) Values() bool { return f == JSON || f == Auto }

// Decode appends the events that line holds to ev, or returns an error and
// appends nothing. ev borrows line. Arrival, in Unix seconds, decides about the
// year of timestamps without one. A suspect is a line that begins like JSON and was
// taken as text: in Auto for a reason that FindFault finds, in Syslog as it has no header.
func (d *Decoder) Decode(w *engine.Worker, ev *engine.Events, line []byte, arrival int64) (suspect bool, err error) {
	switch d.Format {
	case JSON:
		return false, d.values(w, ev, line, false)
	case Auto:
		return d.guess(w, ev, line, arrival), nil
	case Syslog:
		c := first(line)
		d.syslog(w, ev, line, arrival)
		return c == '{' || c == '[', nil
	case Logfmt:
		p := w.Pairs(ev)
		logfmt(p, line)
		p.End()
	case CEF:
		return false, cef(w, ev, line)
	default:
		w.DecodePlain(ev, line)
	}
	return false, nil
}

// Value appends the events of a line that is one JSON value, whatever the format. A nil
// decoder has no filter.
func (d *Decoder) Value(w *engine.Worker, ev *engine.Events, line []byte) error {
	if d != nil && d.Filter != nil {
		return d.Filter.Value(w, ev, line)
	}
	return w.DecodeJSON(ev, line)
}

// values appends the events of a line of JSON values.
func (d *Decoder) values(w *engine.Worker, ev *engine.Events, line []byte, containers bool) error {
	if d.Filter != nil {
		return d.Filter.Values(w, ev, line, containers)
	}
	return w.DecodeValues(ev, line, containers)
}

// guess decodes a line of any format that can be told from the others. Scalars,
// logfmt and CEF are text to it.
func (d *Decoder) guess(w *engine.Worker, ev *engine.Events, line []byte, arrival int64) (suspect bool) {
	switch first(line) {
	case '{', '[':
		if d.values(w, ev, line, true) == nil {
			return false
		}
		suspect = true
	case '<':
		var m syslogMessage
		if m.parse(line, d.zone(), arrival) {
			d.message(w, ev, &m)
			return false
		}
	}
	w.DecodePlain(ev, line)
	return suspect
}

// first is the first byte that is not white space.
func first(line []byte) byte {
	for _, c := range line {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (d *Decoder) zone() *time.Location {
	if d.Zone == nil {
		return time.UTC
	}
	return d.Zone
}
