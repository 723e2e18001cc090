package auth

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/suggest"
)

// builder makes a policy and reports every fault on the way.
type builder struct {
	getenv func(string) string
	fault  func(key string, err error)
}

func (b *builder) build(c Config) *Policy {
	if len(c.Tokens) == 0 && len(c.AnonymousPermissions) == 0 {
		b.fault("", errors.New("neither tokens nor anonymous permissions: everything but the probes would be unreachable"))
	}
	roles := b.roles(c)
	p := &Policy{}
	b.tokens(c, roles, p)
	p.anonymous = b.grants("anonymous_permissions", "anonymous_permissions", c.AnonymousPermissions)
	return p
}

// roles returns the grants of every role that may be used.
func (b *builder) roles(c Config) map[string][]permission {
	roles := make(map[string][]permission)
	for _, r := range BuiltIn() {
		roles[r.Name] = b.grants("", r.Name, r.Permissions)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Roles)) {
		key := "roles." + name
		switch {
		case builtIn(name):
			b.fault(key, fmt.Errorf("role %q: a built-in role cannot be redefined", name))
			continue
		case len(c.Roles[name]) == 0:
			b.fault(key, fmt.Errorf("role %q: grants nothing", name))
		}
		roles[name] = b.grants(key, fmt.Sprintf("role %q", name), c.Roles[name])
	}
	return roles
}

// tokens fills in the holders of tokens.
func (b *builder) tokens(c Config, roles map[string][]permission, p *Policy) {
	names := make(map[string]bool)
	secrets := make(map[string]string) // to the name of the token
	for i, t := range c.Tokens {
		key := fmt.Sprintf("tokens[%d]", i)
		owner := fmt.Sprintf("token %q", t.Name)
		switch {
		case t.Name == "":
			owner = fmt.Sprintf("token number %d", i+1)
			b.fault(key, fmt.Errorf("%s: the name is missing or empty", owner))
		case names[t.Name]:
			b.fault(key, fmt.Errorf("%s: another token has this name", owner))
		}
		names[t.Name] = true
		grants := b.granted(key, owner, t, roles)
		secret := b.secret(key, owner, t)
		if first, taken := secrets[secret]; taken && secret != "" {
			b.fault(key, fmt.Errorf("%s and %s have the same secret", first, owner))
		}
		secrets[secret] = owner
		p.digests = append(p.digests, digestOf(secret))
		p.holders = append(p.holders, holder{name: t.Name, grants: grants})
	}
}

// granted returns what a token may do.
func (b *builder) granted(key, owner string, t TokenConfig, roles map[string][]permission) []permission {
	grants, known := roles[t.Role]
	switch {
	case t.Role != "" && t.Permissions != nil:
		b.fault(key, fmt.Errorf("%s: has a role and permissions; exactly one of them is allowed", owner))
	case t.Permissions != nil && len(t.Permissions) == 0:
		b.fault(key, fmt.Errorf("%s: the list of permissions is empty", owner))
	case t.Permissions != nil:
		return b.grants(key, owner, t.Permissions)
	case t.Role == "":
		b.fault(key, fmt.Errorf("%s: has neither a role nor permissions; exactly one of them is needed", owner))
	case !known:
		names := slices.Sorted(maps.Keys(roles))
		b.fault(key, suggest.Wrap(fmt.Errorf("%s: unknown role %q (%s)", owner, t.Role, strings.Join(names, ", ")), t.Role, names))
	}
	return grants
}

// secret returns the secret of a token, empty when there is none.
func (b *builder) secret(key, owner string, t TokenConfig) string {
	if t.TokenEnv == "" {
		b.fault(key, fmt.Errorf("%s: token_env is missing, the variable that holds the secret", owner))
		return ""
	}
	if err := CheckVariable(t.TokenEnv); err != nil {
		b.fault(key, fmt.Errorf("%s: token_env: %w", owner, err))
		return ""
	}
	secret := b.getenv(t.TokenEnv)
	if strings.TrimSpace(secret) == "" {
		b.fault(key, fmt.Errorf("%s: the variable %q is unset or empty", owner, t.TokenEnv))
		return ""
	}
	return secret
}

// grants parses the permissions of an owner.
func (b *builder) grants(key, owner string, texts []string) []permission {
	var out []permission
	for _, text := range texts {
		p, err := parse(text)
		if err != nil {
			b.fault(key, fmt.Errorf("%s: %w", owner, err))
			continue
		}
		out = append(out, p)
	}
	return out
}
