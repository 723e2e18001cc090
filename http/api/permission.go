package api

import (
	"maps"
	"slices"
)

// condition is a permission that an endpoint needs beside its first while it holds.
type condition struct {
	permission string
	holds      func(Options) bool
}

// and has the endpoint need a second permission while the condition holds.
func (e endpoint) and(permission string, holds func(Options) bool) endpoint {
	e.also = &condition{permission, holds}
	return e
}

func whileCapturing(o Options) bool { return o.Capture }

// info is what others know of the endpoint.
func (e endpoint) info(method, pattern string) Endpoint {
	out := Endpoint{Method: method, Pattern: pattern, Permission: e.permission, Open: e.open, Audited: e.audited}
	if e.also != nil {
		out.Also = e.also.permission
	}
	return out
}

// Permissions lists what endpoints ask for, sorted. The full grant, which routes outside
// the table need, is not among them.
func Permissions() []string {
	all := make(map[string]bool)
	for _, e := range new(API).Endpoints() {
		all[e.Permission], all[e.Also] = true, true
	}
	delete(all, "")
	return slices.Sorted(maps.Keys(all))
}
