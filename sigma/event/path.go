package event

import (
	"slices"
	"strconv"
	"strings"
)

// Path is a field name taken apart.
type Path struct {
	Name     string // the whole name, brackets unescaped: the flat key that wins
	Segments []Segment
}

// Segment is one step of a path: a key, then perhaps a position in an array.
type Segment struct {
	Key     string
	Any     bool // every key, whatever Key says; only in patterns
	Indexed bool
	Index   int // negative counts from the end
}

// ParsePath reads a field name under the major version of its document: below 3
// brackets are ordinary characters.
func ParsePath(field string, version int) Path {
	if version < 3 || !strings.ContainsAny(field, `[]`) {
		p := Path{Name: field}
		for s := range strings.SplitSeq(field, ".") {
			p.Segments = append(p.Segments, Segment{Key: s})
		}
		return p
	}
	p := Path{Name: Unescape(field)}
	for s := range strings.SplitSeq(field, ".") {
		p.Segments = append(p.Segments, parseSegment(s))
	}
	return p
}

// ParsePattern reads a path pattern: a path without positions in which the segment
// * stands for any one key.
func ParsePattern(pattern string) Path {
	p := ParsePath(pattern, 0)
	for i := range p.Segments {
		p.Segments[i].Any = p.Segments[i].Key == "*"
	}
	return p
}

func parseSegment(s string) Segment {
	if strings.HasSuffix(s, "]") && !strings.HasSuffix(s, `\]`) {
		open := strings.LastIndexByte(s, '[')
		if open > 0 && s[open-1] != '\\' {
			if n, err := strconv.Atoi(s[open+1 : len(s)-1]); err == nil {
				return Segment{Key: Unescape(s[:open]), Indexed: true, Index: n}
			}
		}
	}
	return Segment{Key: Unescape(s)}
}

// Unescape removes the backslash before brackets.
func Unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\[`, `[`, `\]`, `]`).Replace(s)
}

// Indexed reports whether some segment has a position.
func (p *Path) Indexed() bool {
	return slices.ContainsFunc(p.Segments, func(s Segment) bool { return s.Indexed })
}

// Hit is one value a path leads to. Name is the path with the position of every
// array that was crossed, when it was asked for.
type Hit struct {
	Value
	Name string
}

// Resolve appends the values that the name has in root, in order: none when it
// is absent, several after crossing arrays or repeated keys. An object is asked
// for the whole name first. A root that is an array is asked element by
// element.
func (p *Path) Resolve(dst []Hit, root Value, named bool) []Hit {
	switch root.Type {
	case Array:
		for e := range root.Elements {
			if e.Type == Object {
				dst = p.inObject(dst, e, named)
			}
		}
	case Object:
		dst = p.inObject(dst, root, named)
	}
	return dst
}

func (p *Path) inObject(dst []Hit, root Value, named bool) []Hit {
	before := len(dst)
	for k, m := range root.Members {
		if KeyIs(k, p.Name) {
			dst = append(dst, Hit{Value: m, Name: p.Name})
		}
	}
	if len(dst) > before || len(p.Segments) == 1 && !p.Segments[0].Indexed {
		return dst
	}
	w := walker{segments: p.Segments, hits: dst, named: named}
	w.key(root, 0, "")
	return w.hits
}

type walker struct {
	segments []Segment
	hits     []Hit
	named    bool
}

// key looks segment n up in v, which may be anything.
func (w *walker) key(v Value, n int, name string) {
	switch v.Type {
	case Array:
		i := 0
		for e := range v.Elements {
			w.key(e, n, w.at(name, i))
			i++
		}
	case Object:
		s := w.segments[n]
		if w.named && name != "" {
			name += "."
		}
		var found []Value
		for k, m := range v.Members {
			if s.Any || KeyIs(k, s.Key) {
				found = append(found, m)
			}
		}
		if s.Indexed {
			w.index(found, n, name+s.Key)
			return
		}
		for _, m := range found {
			w.rest(m, n+1, name+s.Key)
		}
	}
}

// index applies the position of segment n; repeated keys are one array.
func (w *walker) index(found []Value, n int, name string) {
	var members []Value
	switch {
	case len(found) > 1:
		members = found
	case len(found) == 1 && found[0].Type == Array:
		members = slices.Collect(found[0].Elements)
	}
	i := w.segments[n].Index
	at := i
	if i < 0 {
		at += len(members)
	}
	if at >= 0 && at < len(members) {
		w.rest(members[at], n+1, name+"["+strconv.Itoa(at)+"]")
	}
}

func (w *walker) rest(v Value, n int, name string) {
	if n == len(w.segments) {
		w.hits = append(w.hits, Hit{Value: v, Name: name})
		return
	}
	w.key(v, n, name)
}

func (w *walker) at(name string, i int) string {
	if !w.named {
		return name
	}
	return name + "[" + strconv.Itoa(i) + "]"
}
