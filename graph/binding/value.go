package binding

import (
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/event"
)

const null = "null"

// appendText appends a JSON value as text; nothing has no text.
func appendText(dst []byte, v event.Value, ok bool) []byte {
	switch {
	case !ok || v.Type == event.Null:
		return dst
	case v.Type == event.String:
		return event.AppendUnquoted(dst, v.Raw)
	}
	return event.AppendCompact(dst, v.Raw)
}

func appendJSON(dst []byte, v event.Value, ok bool) []byte {
	if !ok {
		return append(dst, null...)
	}
	return event.AppendCompact(dst, v.Raw)
}

// path leads into a JSON value: by keys of objects and positions in arrays.
type path []step

type step struct {
	key   string
	index int // -1 if key is no position
}

func newPath(text string) path {
	var p path
	for key := range strings.SplitSeq(text, ".") {
		index := -1
		if n, err := strconv.ParseUint(key, 10, 31); err == nil && key[0] != '+' {
			index = int(n)
		}
		p = append(p, step{key, index})
	}
	return p
}

// in returns what the path leads to. Of a repeated key the first counts.
func (p path) in(v event.Value) (event.Value, bool) {
	for i := range p {
		var ok bool
		switch v.Type {
		case event.Object:
			v, ok = v.Member(p[i].key)
		case event.Array:
			v, ok = element(v, p[i].index)
		}
		if !ok {
			return event.Value{}, false
		}
	}
	return v, true
}

func element(v event.Value, index int) (event.Value, bool) {
	i := 0
	for e := range v.Elements {
		if i == index {
			return e, true
		}
		i++
	}
	return event.Value{}, false
}

type eventAt struct{ path path }

func (e eventAt) find(r *graph.Result) (event.Value, bool) {
	x := r.Detection.Extra
	if x == nil || len(x.Event) == 0 {
		return event.Value{}, false
	}
	return e.path.in(event.ValueOf(x.Event))
}

func (e eventAt) AppendText(dst []byte, r *graph.Result) []byte {
	v, ok := e.find(r)
	return appendText(dst, v, ok)
}

func (e eventAt) AppendJSON(dst []byte, r *graph.Result) []byte {
	v, ok := e.find(r)
	return appendJSON(dst, v, ok)
}

type field struct{ name string }

func (f field) find(r *graph.Result) (event.Value, bool) {
	for i := range r.Detection.Fields {
		if m := &r.Detection.Fields[i]; m.Name == f.name && len(m.Value) > 0 {
			return event.ValueOf(m.Value), true
		}
	}
	return event.Value{}, false
}

func (f field) AppendText(dst []byte, r *graph.Result) []byte {
	v, ok := f.find(r)
	return appendText(dst, v, ok)
}

func (f field) AppendJSON(dst []byte, r *graph.Result) []byte {
	v, ok := f.find(r)
	return appendJSON(dst, v, ok)
}

type enrichment struct {
	key  string
	path path
}

func (e enrichment) find(r *graph.Result) (event.Value, bool) {
	if len(r.Enrichments) == 0 {
		return event.Value{}, false
	}
	all := event.ValueOf(r.Enrichments)
	if v, ok := all.Member(e.key); ok {
		return v, true
	}
	return e.path.in(all)
}

func (e enrichment) AppendText(dst []byte, r *graph.Result) []byte {
	v, ok := e.find(r)
	return appendText(dst, v, ok)
}

func (e enrichment) AppendJSON(dst []byte, r *graph.Result) []byte {
	v, ok := e.find(r)
	return appendJSON(dst, v, ok)
}
