package reference

import "bytes"

type form uint8

const (
	structured form = iota
	pairs
	plain
)

// Event is a decoded event. It remembers what was looked up in it and which
// rules hold for it, so it belongs to one Evaluator, and the ones made from it
// by With, and to one goroutine.
type Event struct {
	form  form
	root  *value
	memo  []lookup
	words []*value
	read  bool // words is filled
	fires []int
	done  bool // fires is filled
}

type lookup struct {
	done  bool
	value *value
	at    string
}

// Pair is one field of a key-value event.
type Pair struct{ Key, Value string }

// DecodeJSON reads a line that is one JSON value.
func DecodeJSON(line []byte) (*Event, error) {
	root, err := decode(line)
	if err != nil {
		return nil, err
	}
	return &Event{form: structured, root: root}, nil
}

// DecodePlain makes the event of a text line.
func DecodePlain(line []byte) *Event {
	v := textValue(toValid(line))
	return &Event{form: plain, root: &value{kind: object, members: []member{{key: "_raw", raw: `"_raw"`, value: v}}}}
}

// DecodePairs makes a key-value event. Of equal keys the first wins; keywords
// are searched in every value.
func DecodePairs(in []Pair) *Event {
	ev := &Event{form: pairs, root: &value{kind: object}, read: true}
	seen := map[string]bool{}
	for _, p := range in {
		v := textValue(p.Value)
		ev.words = append(ev.words, v)
		if !seen[p.Key] {
			seen[p.Key] = true
			ev.root.members = append(ev.root.members, member{key: p.Key, raw: string(appendString(nil, p.Key)), value: v})
		}
	}
	return ev
}

// DecodeAuto reads a line the way format auto does, syslog aside: structured
// when it is a JSON object or array, else plain.
func DecodeAuto(line []byte) *Event {
	if t := bytes.TrimLeft(line, " \t\r\n"); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		if ev, err := DecodeJSON(line); err == nil {
			return ev
		}
	}
	return DecodePlain(line)
}

func textValue(s string) *value {
	return &value{kind: text, text: s, raw: string(appendString(nil, s))}
}

// look finds a field of the whole event.
func (ev *Event) look(p path) *value {
	switch ev.form {
	case plain:
		return nil
	case pairs:
		return ev.root.get(p.name)
	}
	return p.resolve(ev.root)
}

// keywords lists the strings that keyword searches read.
func (ev *Event) keywords() []*value {
	if !ev.read {
		ev.read = true
		ev.words = ev.root.strings(1, nil)
	}
	return ev.words
}

// field is the path or the list of paths that an item reads.
type field struct {
	id    int // position in Event.memo
	path  path
	paths []path
}

// name is the field's name in results when nothing was found.
func (f *field) name() string {
	if len(f.paths) > 0 {
		return f.paths[0].name
	}
	return f.path.name
}

// find returns the field's value, nil when absent, and the name to print.
func (f *field) find(ev *Event) (*value, string) {
	for len(ev.memo) <= f.id {
		ev.memo = append(ev.memo, make([]lookup, f.id+64)...)
	}
	m := &ev.memo[f.id]
	if !m.done {
		m.done = true
		m.value, m.at = f.search(ev)
	}
	return m.value, m.at
}

func (f *field) search(ev *Event) (*value, string) {
	if len(f.paths) == 0 {
		return ev.look(f.path), f.path.name
	}
	for _, p := range f.paths {
		var values []*value
		at := p.name
		for _, h := range (scope{ev: ev}).hits(p) {
			found := []*value{h.value}
			if h.value.kind == object {
				found = h.value.all("#text")
			}
			if len(values) == 0 && len(found) > 0 && h.value.kind == object {
				at = p.name + ".#text"
			}
			values = append(values, found...)
		}
		if len(values) > 0 {
			return joined(values), at
		}
	}
	return nil, f.name()
}

// scope is what field names are relative to: the event, or one member of an
// array.
type scope struct {
	ev     *Event
	member *value
	at     string
}

// find is field.find within the scope.
func (s scope) find(f *field) (*value, string) {
	switch {
	case s.member == nil:
		return f.find(s.ev)
	case f.path.name == ".":
		return s.member, s.at
	}
	return f.path.resolve(s.member), join(s.at, f.path.name)
}

// hits is path.hits within the scope.
func (s scope) hits(p path) []hit {
	switch {
	case s.member == nil && s.ev.form == structured:
		return p.hits(s.ev.root)
	case s.member == nil:
		if v := s.ev.look(p); v != nil {
			return []hit{{v, p.name}}
		}
		return nil
	case p.name == ".":
		return []hit{{s.member, s.at}}
	}
	out := p.hits(s.member)
	for i := range out {
		out[i].at = join(s.at, out[i].at)
	}
	return out
}
