package ingest

import (
	"bytes"
	"hash/maphash"
	"strconv"

	"github.com/sluicehq/sluice/sources"
)

// flattener makes events of log records. What it reads has been checked.
type flattener struct {
	members members
	clock   clock

	around  members // of the resource and the scope in hand
	names   []byte  // keys of the resource
	block   []byte  // around, as it ends an event
	tooLong bool    // around is longer than an event may be

	pairs [64][]byte // attributes of the record in hand, as long as they are few
}

// Keys that the members around a record have in common.
var (
	resourcePrefix = []byte("resource.")
	scopePrefix    = []byte("scope.")
)

// enter begins the records of a scope, which a resource has. Both may be in pieces.
func (f *flattener) enter(resource, scope []byte) {
	f.around.reset()
	f.names = f.names[:0]
	for b := resource; len(b) > 0 && f.around.size <= sources.MaxLine; {
		one, n := next(b)
		if n < 0 {
			break
		}
		b = b[n:]
		if one.tag == resourceAttr {
			f.resourcePair(one.content)
		}
	}
	var name, version []byte
	for b := scope; len(b) > 0; {
		one, n := next(b)
		if n < 0 {
			break
		}
		b = b[n:]
		switch one.tag {
		case scopeName:
			name = one.content
		case scopeVersion:
			version = one.content
		}
	}
	if len(name) > 0 {
		f.around.fixed(keyScope, kindText, name, 0)
	}
	if len(version) > 0 {
		f.around.fixed(keyVersion, kindText, version, 0)
	}
	w := writer{out: append(f.block[:0], '{'), limit: sources.MaxLine}
	f.write(&w, &f.around)
	f.block, f.tooLong = append(w.out, '}'), w.over
}

func (f *flattener) resourcePair(b []byte) {
	key, value := readPair(b)
	if !value.set {
		return
	}
	from := len(f.names)
	f.names = append(append(f.names, resourcePrefix...), validKey(key)...)
	key = f.names[from:len(f.names):len(f.names)]
	f.around.add(member{key: key, hash: maphash.Bytes(seed, key), value: value.content})
}

// event appends the event of a record. It reports false when that is too long; then at
// least as much of it is appended as is kept to show for it.
func (f *flattener) event(dst, record []byte) (_ []byte, ok bool) {
	f.members.reset()
	apart := f.collect(record)
	w := writer{out: append(dst, '{'), limit: len(dst) + sources.MaxLine}
	if !apart && !f.tooLong {
		f.write(&w, &f.members)
		if around := f.block[1:]; !w.over {
			if len(around) > 1 && len(f.members.list) > 0 {
				w.out = append(w.out, ',')
			}
			w.out = append(w.out, around...)
		}
		return w.out, !w.full()
	}
	for i := range f.around.list {
		f.members.add(f.around.list[i])
	}
	f.write(&w, &f.members)
	w.out = append(w.out, '}')
	return w.out, !w.full()
}

// collect makes the members of a record without what is around it. It reports whether one
// of them may have a key of the latter.
func (f *flattener) collect(record []byte) (apart bool) {
	var nanos, observed, severity uint64
	var level, trace, span []byte
	var body merged
	attributes := 0
	for b := record; len(b) > 0; {
		one, n := next(b)
		if n < 0 {
			break
		}
		b = b[n:]
		switch one.tag {
		case recordAttr:
			if attributes < len(f.pairs) {
				f.pairs[attributes] = one.content
			}
			attributes++
		case recordTime:
			nanos = one.number
		case recordObserved:
			observed = one.number
		case recordSeverity:
			severity = one.number
		case recordLevel:
			level = one.content
		case recordBody:
			body.add(one.content)
		case recordTrace:
			trace = one.content
		case recordSpan:
			span = one.content
		}
	}
	m := &f.members
	if nanos != 0 {
		m.fixed(keyTime, kindTime, nil, nanos)
	}
	if observed != 0 {
		m.fixed(keyObserved, kindTime, nil, observed)
	}
	if int32(severity) != 0 {
		m.fixed(keySeverity, kindInteger, nil, severity)
	}
	if len(level) > 0 {
		m.fixed(keyLevel, kindText, level, 0)
	}
	own := len(m.list)
	if body.set {
		f.body(body.content)
	}
	if len(trace) > 0 {
		m.fixed(keyTrace, kindHex, trace, 0)
	}
	if len(span) > 0 {
		m.fixed(keySpan, kindHex, span, 0)
	}
	if attributes > len(f.pairs) {
		f.attributes(record, recordAttr)
		attributes = 0
	}
	for _, one := range f.pairs[:attributes] {
		m.pair(one)
	}
	for i := own; i < len(m.list); i++ {
		if key := m.list[i].key; bytes.HasPrefix(key, resourcePrefix) || bytes.HasPrefix(key, scopePrefix) {
			return true
		}
	}
	return false
}

// attributes adds the pairs that stand in fields with a tag. Enough of them is as good as
// all: then the event is too long.
func (f *flattener) attributes(b []byte, tag uint64) {
	for len(b) > 0 && f.members.size <= sources.MaxLine {
		one, n := next(b)
		if n < 0 {
			return
		}
		b = b[n:]
		if one.tag == tag {
			f.members.pair(one.content)
		}
	}
}

// body adds the members of a body that is a list of pairs, and any other body as one.
func (f *flattener) body(b []byte) {
	last := uint64(0) // of the fields that are set
	var list merged
	for rest := b; len(rest) > 0; {
		one, n := next(rest)
		if n < 0 {
			break
		}
		rest = rest[n:]
		switch one.tag {
		case valueList:
			if last != valueList {
				list = merged{}
			}
			list.add(one.content)
		case valueString, valueBool, valueInt, valueDouble, valueArray, valueBytes:
		default:
			continue
		}
		last = one.tag
	}
	switch last {
	case 0: // none is set
	case valueList:
		f.attributes(list.content, listElement)
	default:
		f.members.fixed(keyBody, kindValue, b, 0)
	}
}

// write appends members without the braces around them.
func (f *flattener) write(w *writer, m *members) {
	for i := range m.list {
		if w.full() {
			return
		}
		if i > 0 {
			w.out = append(w.out, ',')
		}
		one := &m.list[i]
		w.text(one.key)
		w.out = append(w.out, ':')
		switch one.kind {
		case kindValue:
			w.value(one.value, 1)
		case kindText:
			w.text(one.value)
		case kindHex:
			w.hex(one.value)
		case kindTime:
			w.out = f.clock.appendTime(w.out, one.number)
		case kindInteger:
			w.out = strconv.AppendInt(w.out, int64(int32(one.number)), 10)
		}
	}
}
