package format

import (
	"bytes"

	"github.com/sluicehq/sluice/graph/filter"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/event"
)

// What the keys begin with that the header of a line and its structured data have in an
// object.
const (
	headerPrefix = "syslog_"
	dataPrefix   = "sd."
)

var (
	headerMark  = []byte(headerPrefix)
	dataMark    = []byte(dataPrefix)
	unicodeMark = []byte(`\u`)
)

// object decodes a line whose message is a JSON object, with the header behind its own
// members. A key it already has is not added. If the message is none, it returns false.
// What a filter makes of the object are the events, unless f is nil.
func (m *syslogMessage) object(w *engine.Worker, ev *engine.Events, f *filter.Filter) bool {
	var taken *keys
	if m.mayTake() {
		n := ev.Len()
		if w.DecodeJSON(ev, m.text) != nil {
			return false
		}
		taken = keysOf(ev.Root(n), m.data)
		ev.Truncate(n)
	}
	if f != nil {
		return f.Value(w, ev, m.appendObject(nil, taken)) == nil
	}
	return w.DecodeWritten(ev, func(dst []byte) []byte { return m.appendObject(dst, taken) }) == nil
}

// mayTake reports whether the object may have one of the keys that are to be added.
// Nothing in it begins like one otherwise, in whatever spelling.
func (m *syslogMessage) mayTake() bool {
	return bytes.Contains(m.text, headerMark) || len(m.data) > 0 && bytes.Contains(m.text, dataMark) || bytes.Contains(m.text, unicodeMark)
}

// appendObject appends the object of the message with the header, less the taken keys.
// The result is JSON if, and only if, the message is.
func (m *syslogMessage) appendObject(dst []byte, taken *keys) []byte {
	own := m.text[:len(m.text)-1]
	o := members{dst: append(dst, own...), empty: len(bytes.TrimLeft(own[1:], " \t\r\n")) == 0, taken: taken}
	for i := range m.header {
		if part := m.part(i); len(part) > 0 {
			o.add(headerPrefix, headerKeys[i], part)
		}
	}
	for it := m.elements(); it.next(); {
		var name [2*maxName + 1]byte
		key := it.appendKey(name[:0])
		if !it.escaped {
			o.add(dataPrefix, key, it.value)
			continue
		}
		var value [256]byte
		o.add(dataPrefix, key, unescapeParameter(value[:0], it.value))
	}
	return append(o.dst, '}')
}

// members writes members of an object.
type members struct {
	dst   []byte
	empty bool // so far
	taken *keys
}

func (o *members) add(prefix string, key, value []byte) {
	if o.taken.have(prefix, key) {
		return
	}
	if !o.empty {
		o.dst = append(o.dst, ',')
	}
	o.empty = false
	at := len(o.dst)
	o.dst = append(append(o.dst, '"'), prefix...)
	if event.IsPlain(key) {
		o.dst = append(append(o.dst, key...), '"')
	} else {
		o.dst = event.AppendQuoted(o.dst[:at], prefix+string(key))
	}
	o.dst = event.AppendQuoted(append(o.dst, ':'), value)
}

// keys are those of an object.
type keys struct {
	object event.Value
	set    map[string]struct{} // nil where few are looked for
}

// fewLookups is how many bytes the structured data of a line has whose keys are looked for
// by reading the object: a key takes five.
const fewLookups = 80

// keysOf returns the keys of an object, to look for those of structured data.
func keysOf(object event.Value, data []byte) *keys {
	k := &keys{object: object}
	if len(data) <= fewLookups {
		return k
	}
	k.set = make(map[string]struct{})
	for name := range object.Members {
		k.set[string(event.AppendUnquoted(nil, name))] = struct{}{}
	}
	return k
}

// have reports whether a key is among them.
func (k *keys) have(prefix string, key []byte) bool {
	if k == nil {
		return false
	}
	name := prefix + string(key)
	if k.set != nil {
		_, ok := k.set[name]
		return ok
	}
	for own := range k.object.Members {
		if event.KeyIs(own, name) {
			return true
		}
	}
	return false
}
