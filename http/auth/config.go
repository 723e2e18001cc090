package auth

import "errors"

// Config is the section daemon.api.auth: permissions of tokens and of callers without one.
type Config struct {
	AnonymousPermissions []string            `yaml:"anonymous_permissions" help:"What callers without a token may do"`
	Roles                map[string][]string `yaml:"roles" help:"Roles of your own: name to permissions"`
	Tokens               []TokenConfig       `yaml:"tokens" help:"Tokens: name, token_env, and role or permissions"`
}

// TokenConfig names the variable that holds a secret; the secret itself is never
// part of a configuration.
type TokenConfig struct {
	Name        string   `yaml:"name" json:"name"`
	TokenEnv    string   `yaml:"token_env" json:"token_env"`
	Role        string   `yaml:"role" json:"role,omitempty"`
	Permissions []string `yaml:"permissions" json:"permissions,omitempty"`
}

// Single is the configuration of one token with every permission, whose secret a
// variable holds.
func Single(variable string) Config {
	return Config{Tokens: []TokenConfig{{Name: "default", TokenEnv: variable, Role: "admin"}}}
}

// Choose returns the configuration in force: that of one token, whose secret variable
// holds, or that of the section. Nil is no authentication. Naming both is an error.
func Choose(variable string, section *Config) (*Config, error) {
	switch {
	case variable == "":
		return section, nil
	case section != nil:
		return nil, errors.New("cannot be combined with daemon.api.auth: give this token a name there")
	}
	single := Single(variable)
	return &single, nil
}

// Check reports everything that keeps the configuration from being used, by keys below
// its own, in the order roles, tokens, anonymous permissions. getenv returns the value
// of a variable; no error shows one.
func (c Config) Check(getenv func(string) string, fault func(key string, err error)) {
	b := builder{getenv: getenv, fault: fault}
	b.build(c)
}

// New builds the policy of a configuration. It reads the variables of the tokens, now
// and never again. The error holds what Check reports.
func New(c Config, getenv func(string) string) (*Policy, error) {
	var errs []error
	b := builder{getenv: getenv, fault: func(_ string, err error) { errs = append(errs, err) }}
	p := b.build(c)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return p, nil
}
