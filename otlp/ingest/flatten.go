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

	record record      // in hand
	pairs  [128][]byte // its attributes, as long as they are few
	keys   keys
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

// record is what a record has, apart from its attributes.
type record struct {
	time, observed, severity uint64
	level, trace, span       []byte
	body                     merged
	attributes               int // how many there are
}

// event appends the event of a record. It reports false when that is too long; then at
// least as much of it is appended as is kept to show for it.
func (f *flattener) event(dst, b []byte) (_ []byte, ok bool) {
	f.read(b)
	if dst, ok = f.direct(dst, &f.record, len(b)); ok {
		return dst, true
	}
	f.members.reset()
	apart := f.collect(&f.record, b)
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

// read finds the fields of a record, and the first of its attributes.
func (f *flattener) read(b []byte) {
	f.record = record{}
	r := &f.record
	for len(b) > 0 {
		if b[0] == recordAttr && r.attributes < len(f.pairs) {
			if from, end := span(b, 1); end > 0 {
				f.pairs[r.attributes] = b[from:end]
				r.attributes++
				b = b[end:]
				continue
			}
		}
		one, n := next(b)
		if n < 0 {
			break
		}
		b = b[n:]
		switch one.tag {
		case recordAttr:
			if r.attributes < len(f.pairs) {
				f.pairs[r.attributes] = one.content
			}
			r.attributes++
		case recordTime:
			r.time = one.number
		case recordObserved:
			r.observed = one.number
		case recordSeverity:
			r.severity = one.number
		case recordLevel:
			r.level = one.content
		case recordBody:
			r.body.add(one.content)
		case recordTrace:
			r.trace = one.content
		case recordSpan:
			r.span = one.content
		}
	}
}

// collect makes the members of a record without what is around it. It reports whether one
// of them may have a key of the latter.
func (f *flattener) collect(r *record, b []byte) (apart bool) {
	m := &f.members
	if r.time != 0 {
		m.fixed(keyTime, kindTime, nil, r.time)
	}
	if r.observed != 0 {
		m.fixed(keyObserved, kindTime, nil, r.observed)
	}
	if int32(r.severity) != 0 {
		m.fixed(keySeverity, kindInteger, nil, r.severity)
	}
	if len(r.level) > 0 {
		m.fixed(keyLevel, kindText, r.level, 0)
	}
	own := len(m.list)
	switch what, list := bodyOf(r.body.content); what {
	case 0:
	case valueList:
		f.attributes(list, listElement)
	default:
		m.fixed(keyBody, kindValue, r.body.content, 0)
	}
	if len(r.trace) > 0 {
		m.fixed(keyTrace, kindHex, r.trace, 0)
	}
	if len(r.span) > 0 {
		m.fixed(keySpan, kindHex, r.span, 0)
	}
	if r.attributes > len(f.pairs) {
		f.attributes(b, recordAttr)
	} else {
		for _, one := range f.pairs[:r.attributes] {
			m.pair(one)
		}
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

// bodyOf returns the tag of what a body is, 0 when it is nothing, and of a list of pairs
// what it holds: the members of such a body are those of the event.
func bodyOf(b []byte) (what uint64, pairs []byte) {
	var list merged
	for len(b) > 0 {
		one, n := next(b)
		if n < 0 {
			break
		}
		b = b[n:]
		switch one.tag {
		case valueList:
			if what != valueList {
				list = merged{}
			}
			list.add(one.content)
		case valueString, valueBool, valueInt, valueDouble, valueArray, valueBytes:
		default:
			continue
		}
		what = one.tag
	}
	return what, list.content
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
