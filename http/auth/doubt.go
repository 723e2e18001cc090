package auth

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sluicehq/sluice/internal/suggest"
)

// shortSecret is the number of bytes below which a secret can be guessed.
const shortSecret = 16

// Doubts reports what is allowed and probably not meant: permissions that no endpoint
// asks for, and secrets that are weak or can never be shown. known are the permissions
// that endpoints ask for. Keys and getenv are as of Check.
func (c Config) Doubts(known []string, getenv func(string) string, doubt func(key string, err error)) {
	for _, o := range c.owners() {
		for _, text := range o.permissions {
			if p, err := parse(text); err == nil && !asked(p, known) {
				doubt(o.key, suggest.Wrap(fmt.Errorf("%s: no endpoint asks for the permission %s", o.name, p), p.String(), known))
			}
		}
	}
	for i, t := range c.Tokens {
		for _, text := range weaknesses(getenv(t.TokenEnv)) {
			doubt(fmt.Sprintf("tokens[%d]", i), fmt.Errorf("token %q: the secret in the variable %q %s", t.Name, t.TokenEnv, text))
		}
	}
}

// Wildcards names who has a permission only because of a wildcard. Who has it by its
// name, too, was meant to have it.
func (c Config) Wildcards(name string) []string {
	need := required(name)
	var out []string
	b := builder{fault: func(string, error) {}}
	roles := b.roles(c)
	add := func(owner string, grants []permission) {
		exact := func(p permission) bool { return p == need }
		if covered(grants, need) && !slices.ContainsFunc(grants, exact) {
			out = append(out, owner)
		}
	}
	for _, t := range c.Tokens {
		grants := roles[t.Role]
		if t.Permissions != nil {
			grants = b.grants("", "", t.Permissions)
		}
		add(fmt.Sprintf("token %q", t.Name), grants)
	}
	add("callers without a token", b.grants("", "", c.AnonymousPermissions))
	return out
}

// owner is a list of permissions in the configuration.
type owner struct {
	key, name   string
	permissions []string
}

// owners lists who has permissions of the configuration's own.
func (c Config) owners() []owner {
	var out []owner
	for name, permissions := range c.Roles {
		out = append(out, owner{"roles." + name, fmt.Sprintf("role %q", name), permissions})
	}
	slices.SortFunc(out, func(a, b owner) int { return strings.Compare(a.key, b.key) })
	for i, t := range c.Tokens {
		out = append(out, owner{fmt.Sprintf("tokens[%d]", i), fmt.Sprintf("token %q", t.Name), t.Permissions})
	}
	return append(out, owner{"anonymous_permissions", "anonymous_permissions", c.AnonymousPermissions})
}

// asked reports whether p grants something that an endpoint asks for.
func asked(p permission, known []string) bool {
	return p.resource == "*" && p.action == "*" || slices.ContainsFunc(known, func(k string) bool { return p.covers(required(k)) })
}

// weaknesses says what is wrong with a secret, without showing it. A missing one is
// reported elsewhere.
func weaknesses(secret string) []string {
	if strings.TrimSpace(secret) == "" {
		return nil
	}
	var out []string
	odd := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	switch {
	case strings.TrimRightFunc(secret, unicode.IsSpace) != secret:
		out = append(out, "ends with white space, such as a line break, so no request can match it")
	case strings.ContainsFunc(secret, odd):
		out = append(out, "holds white space or control characters, which clients may not be able to send")
	}
	if len(secret) < shortSecret {
		out = append(out, fmt.Sprintf("has fewer than %d bytes and can be guessed", shortSecret))
	}
	return out
}
