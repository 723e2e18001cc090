package auth

import "slices"

// A Role is a name for permissions.
type Role struct {
	Name        string
	Permissions []string
}

// BuiltIn returns the roles that every configuration has and none may change.
func BuiltIn() []Role {
	return []Role{
		{"reader", []string{"*:read"}},
		{"operator", []string{
			"*:read", "silences:write", "dispositions:write", "capture:write", "sources:write", "fields:write", "schemas:write", "actors:write",
		}},
		{"ingest", []string{"events:ingest"}},
		{"admin", []string{"*"}},
	}
}

// Grants reports whether permissions cover what an endpoint asks for. Those that are
// malformed cover nothing.
func Grants(permissions []string, needed string) bool {
	b := builder{fault: func(string, error) {}}
	return covered(b.grants("", "", permissions), required(needed))
}

func builtIn(name string) bool {
	return slices.ContainsFunc(BuiltIn(), func(r Role) bool { return r.Name == name })
}
