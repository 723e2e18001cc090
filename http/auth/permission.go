package auth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// full is the grant of everything. Endpoints outside the table of permissions need it.
const full = "*:*"

// permission is a resource and an action. In a grant, * stands for any of them. A
// required permission is concrete, or full.
type permission struct{ resource, action string }

func (p permission) String() string { return p.resource + ":" + p.action }

// covers reports whether the grant p is enough for what is required.
func (p permission) covers(required permission) bool {
	return (p.resource == "*" || p.resource == required.resource) && (p.action == "*" || p.action == required.action)
}

// covered reports whether one of grants is enough for what is required.
func covered(grants []permission, required permission) bool {
	return slices.ContainsFunc(grants, func(p permission) bool { return p.covers(required) })
}

// parse reads a grant: "resource:action", or * for everything.
func parse(text string) (permission, error) {
	text = strings.TrimSpace(text)
	if text == "*" {
		text = full
	}
	resource, action, found := strings.Cut(text, ":")
	switch {
	case !found:
		return permission{}, fmt.Errorf("permission %q: the action is missing (resource:action, such as silences:read)", text)
	case strings.Contains(action, ":"):
		return permission{}, fmt.Errorf("permission %q: there is a second colon", text)
	}
	if err := errors.Join(checkPart("resource", resource), checkPart("action", action)); err != nil {
		return permission{}, fmt.Errorf("permission %q: %w", text, err)
	}
	return permission{resource, action}, nil
}

func checkPart(name, part string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789_-"
	switch {
	case part == "*":
		return nil
	case part == "":
		return fmt.Errorf("the %s is empty", name)
	case strings.Trim(part, allowed) != "":
		return fmt.Errorf("the %s %q is neither * nor made of a-z, 0-9, _ and - alone", name, part)
	}
	return nil
}

// required is what an endpoint asks for; empty means the full grant.
func required(text string) permission {
	if text == "" {
		text = full
	}
	resource, action, _ := strings.Cut(text, ":")
	return permission{resource, action}
}
