package binding

import (
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

type eventAt struct{ path graph.Path }

func (e eventAt) find(r *graph.Result) (event.Value, bool) {
	v, ok := r.Event()
	if !ok {
		return v, false
	}
	return e.path.In(v)
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

func (f field) AppendText(dst []byte, r *graph.Result) []byte {
	v, ok := r.Field(f.name)
	return appendText(dst, v, ok)
}

func (f field) AppendJSON(dst []byte, r *graph.Result) []byte {
	v, ok := r.Field(f.name)
	return appendJSON(dst, v, ok)
}

type enrichment struct {
	key  string
	path graph.Path
}

func (e enrichment) AppendText(dst []byte, r *graph.Result) []byte {
	v, ok := r.Enrichment(e.key, e.path)
	return appendText(dst, v, ok)
}

func (e enrichment) AppendJSON(dst []byte, r *graph.Result) []byte {
	v, ok := r.Enrichment(e.key, e.path)
	return appendJSON(dst, v, ok)
}
