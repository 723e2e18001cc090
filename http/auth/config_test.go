package auth

import (
	"slices"
	"strings"
	"testing"
)

// variables stand for the environment.
func variables(text ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(text); i += 2 {
			if text[i] == name {
				return text[i+1]
			}
		}
		return ""
	}
}

var secrets = variables("A", "secret of token a", "B", "secret of token b", "SAME", "secret of token a", "EMPTY", "", "BLANK", " \n")

func token(name, variable, role string, permissions ...string) TokenConfig {
	return TokenConfig{Name: name, TokenEnv: variable, Role: role, Permissions: permissions}
}

func TestConfigurationsThatCannotBeUsed(t *testing.T) {
	tokens := func(t ...TokenConfig) Config { return Config{Tokens: t} }
	roles := func(name string, permissions ...string) Config {
		return Config{Roles: map[string][]string{name: permissions}, AnonymousPermissions: []string{"metrics:read"}}
	}
	for _, tc := range []struct {
		name string
		c    Config
		want string // key: message, one a line
	}{
		{"nobody may do anything", Config{}, ": neither tokens nor anonymous permissions: everything but the probes would be unreachable"},
		{"a role and no one to have it", Config{Roles: map[string][]string{"a": {"*"}}}, ": neither tokens nor anonymous permissions: everything but the probes would be unreachable"},
		{"a token without a name", tokens(token("", "A", "admin")), "tokens[0]: token number 1: the name is missing or empty"},
		{"a token without a variable", tokens(token("a", "", "admin")), `tokens[0]: token "a": token_env is missing, the variable that holds the secret`},
		{"reader redefined", roles("reader", "*"), `roles.reader: role "reader": a built-in role cannot be redefined`},
		{"operator redefined", roles("operator", "*"), `roles.operator: role "operator": a built-in role cannot be redefined`},
		{"ingest redefined", roles("ingest", "*"), `roles.ingest: role "ingest": a built-in role cannot be redefined`},
		{"admin redefined", roles("admin", "*"), `roles.admin: role "admin": a built-in role cannot be redefined`},
		{"a role without permissions", roles("none"), `roles.none: role "none": grants nothing`},
		{"a malformed permission of a role", roles("r", "Silences:read"), `roles.r: role "r": permission "Silences:read": the resource "Silences" is neither * nor made of a-z, 0-9, _ and - alone`},
		{"a malformed permission of a token", tokens(token("a", "A", "", "sil*:read")), `tokens[0]: token "a": permission "sil*:read": the resource "sil*" is neither * nor made of a-z, 0-9, _ and - alone`},
		{"a malformed anonymous permission", Config{AnonymousPermissions: []string{"a:b:c"}}, `anonymous_permissions: anonymous_permissions: permission "a:b:c": there is a second colon`},
		{"a name used twice", tokens(token("a", "A", "admin"), token("a", "B", "reader")), `tokens[1]: token "a": another token has this name`},
		{"an unknown role", tokens(token("a", "A", "reder")), `tokens[0]: token "a": unknown role "reder" (admin, ingest, operator, reader)`},
		{"a role and permissions", tokens(token("a", "A", "admin", "*")), `tokens[0]: token "a": has a role and permissions; exactly one of them is allowed`},
		{"neither a role nor permissions", tokens(token("a", "A", "")), `tokens[0]: token "a": has neither a role nor permissions; exactly one of them is needed`},
		{"an empty list of permissions", tokens(TokenConfig{Name: "a", TokenEnv: "A", Permissions: []string{}}), `tokens[0]: token "a": the list of permissions is empty`},
		{"an unset variable", tokens(token("a", "UNSET", "admin")), `tokens[0]: token "a": the variable "UNSET" is unset or empty`},
		{"the secret in the place of its variable", tokens(token("a", "hush/hush==", "admin")), `tokens[0]: token "a": token_env: it takes the name of the variable that holds the token, not the token itself`},
		{"an empty variable", tokens(token("a", "EMPTY", "admin")), `tokens[0]: token "a": the variable "EMPTY" is unset or empty`},
		{"a variable of blanks", tokens(token("a", "BLANK", "admin")), `tokens[0]: token "a": the variable "BLANK" is unset or empty`},
		{"two secrets alike", tokens(token("a", "A", "admin"), token("b", "SAME", "reader")), `tokens[1]: token "a" and token "b" have the same secret`},
		{"one variable for two tokens", tokens(token("a", "A", "admin"), token("b", "A", "reader")), `tokens[1]: token "a" and token "b" have the same secret`},
		{
			"all faults at once, in the order roles, tokens, anonymous permissions",
			Config{Roles: map[string][]string{"z": {}, "admin": {"*"}}, Tokens: []TokenConfig{token("b", "UNSET", "none")}, AnonymousPermissions: []string{"a"}},
			"roles.admin: role \"admin\": a built-in role cannot be redefined\nroles.z: role \"z\": grants nothing\n" +
				"tokens[0]: token \"b\": unknown role \"none\" (admin, ingest, operator, reader, z)\ntokens[0]: token \"b\": the variable \"UNSET\" is unset or empty\n" +
				"anonymous_permissions: anonymous_permissions: permission \"a\": the action is missing (resource:action, such as silences:read)",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			tc.c.Check(secrets, func(key string, err error) { got = append(got, key+": "+err.Error()) })
			if text := strings.Join(got, "\n"); text != tc.want {
				t.Errorf("got\n%s\nwant\n%s", text, tc.want)
			}
			if strings.Contains(strings.Join(got, ""), "secret of token") {
				t.Error("a message shows a secret")
			}
			if p, err := New(tc.c, secrets); err == nil || p != nil {
				t.Errorf("built all the same: %v, %v", p, err)
			}
		})
	}
}

func TestConfigurationsThatCanBeUsed(t *testing.T) {
	for name, c := range map[string]Config{
		"one token of a flag":                           Single("A"),
		"anonymous permissions alone":                   {AnonymousPermissions: []string{"metrics:read"}},
		"a role of one's own":                           {Roles: map[string][]string{"watcher": {"status:read"}}, Tokens: []TokenConfig{token("a", "A", "watcher")}},
		"a role that nobody has":                        {Roles: map[string][]string{"watcher": {"status:read"}}, Tokens: []TokenConfig{token("a", "A", "admin")}},
		"names that differ in case":                     {Tokens: []TokenConfig{token("a", "A", "admin"), token("A", "B", "admin")}},
		"permissions that are repeated, and a wildcard": {AnonymousPermissions: []string{"*", "*:*", "*:*"}},
	} {
		if p, err := New(c, secrets); err != nil || p == nil {
			t.Errorf("%s: got %v, %v", name, p, err)
		}
	}
}

func TestTheFlagAndTheSectionExcludeEachOther(t *testing.T) {
	section := &Config{AnonymousPermissions: []string{"*"}}
	if got, err := Choose("", nil); got != nil || err != nil {
		t.Errorf("neither: got %v, %v, want no authentication", got, err)
	}
	if got, err := Choose("", section); got != section || err != nil {
		t.Errorf("the section: got %v, %v", got, err)
	}
	got, err := Choose("A", nil)
	if err != nil || len(got.Tokens) != 1 || got.Tokens[0].Name != "default" || got.Tokens[0].Role != "admin" || got.Tokens[0].TokenEnv != "A" {
		t.Errorf("the flag: got %+v, %v, want one admin called default", got, err)
	}
	if _, err := Choose("A", section); err == nil || !strings.Contains(err.Error(), "cannot be combined") {
		t.Errorf("both: got %v, want an error", err)
	}
}

func TestBuiltInRoles(t *testing.T) {
	want := map[string]string{
		"reader":   "*:read",
		"operator": "*:read silences:write dispositions:write capture:write sources:write fields:write schemas:write actors:write",
		"ingest":   "events:ingest",
		"admin":    "*",
	}
	var names []string
	for _, r := range BuiltIn() {
		names = append(names, r.Name)
		if got := strings.Join(r.Permissions, " "); got != want[r.Name] {
			t.Errorf("%s: got %s, want %s", r.Name, got, want[r.Name])
		}
	}
	if !slices.Equal(names, []string{"reader", "operator", "ingest", "admin"}) {
		t.Errorf("got the roles %v", names)
	}
}

// known are the permissions that endpoints ask for, in these tests.
var known = []string{"actors:read", "capture:write", "metrics:read", "silences:read", "silences:write", "tap:read"}

func TestWhatIsProbablyNotMeantIsTold(t *testing.T) {
	env := variables("GOOD", "0123456789abcdef", "SHORT", "hunter2", "NEWLINE", "0123456789abcdef\n", "BLANK", "0123456789 abcdef", "LEADING", " 0123456789abcdef",
		"BELL", "0123456789\aabcdef", "BOTH", "a b", "LONG", strings.Repeat("x", 64<<10))
	one := func(variable string) Config { return Config{Tokens: []TokenConfig{token("a", variable, "admin")}} }
	grants := func(p ...string) Config { return Config{AnonymousPermissions: p} }
	const odd = "holds white space or control characters, which clients may not be able to send"
	for _, tc := range []struct {
		name string
		c    Config
		want []string
	}{
		{"a good secret", one("GOOD"), nil},
		{"a long one", one("LONG"), nil},
		{"a short secret", one("SHORT"), []string{`tokens[0]: token "a": the secret in the variable "SHORT" has fewer than 16 bytes and can be guessed`}},
		{"a secret with its line break", one("NEWLINE"), []string{`tokens[0]: token "a": the secret in the variable "NEWLINE" ends with white space, such as a line break, so no request can match it`}},
		{"a secret with a blank", one("BLANK"), []string{`tokens[0]: token "a": the secret in the variable "BLANK" ` + odd}},
		{"a secret behind a blank", one("LEADING"), []string{`tokens[0]: token "a": the secret in the variable "LEADING" ` + odd}},
		{"a secret with a control character", one("BELL"), []string{`tokens[0]: token "a": the secret in the variable "BELL" ` + odd}},
		{"two things at once", one("BOTH"), []string{
			`tokens[0]: token "a": the secret in the variable "BOTH" ` + odd,
			`tokens[0]: token "a": the secret in the variable "BOTH" has fewer than 16 bytes and can be guessed`,
		}},
		{"an unset variable is told elsewhere", one("UNSET"), nil},
		{"permissions that endpoints ask for", grants("*", "*:read", "silences:*", "silences:write", "capture:write"), nil},
		{"an unknown resource", grants("silence:write"), []string{`anonymous_permissions: anonymous_permissions: no endpoint asks for the permission silence:write`}},
		{"an unknown action", grants("silences:delete"), []string{`anonymous_permissions: anonymous_permissions: no endpoint asks for the permission silences:delete`}},
		{"an action that others have", grants("metrics:write"), []string{`anonymous_permissions: anonymous_permissions: no endpoint asks for the permission metrics:write`}},
		{"any resource with an unknown action", grants("*:delete"), []string{`anonymous_permissions: anonymous_permissions: no endpoint asks for the permission *:delete`}},
		{"an unknown resource with any action", grants("silence:*"), []string{`anonymous_permissions: anonymous_permissions: no endpoint asks for the permission silence:*`}},
		{"malformed permissions are told elsewhere", grants("Silences:read"), nil},
		{
			"a role and a token",
			Config{Roles: map[string][]string{"r": {"a:b"}}, Tokens: []TokenConfig{token("t", "GOOD", "", "c:d")}},
			[]string{`roles.r: role "r": no endpoint asks for the permission a:b`, `tokens[0]: token "t": no endpoint asks for the permission c:d`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			tc.c.Doubts(known, env, func(key string, err error) { got = append(got, key+": "+err.Error()) })
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			for _, secret := range []string{"hunter2", "0123456789"} {
				if strings.Contains(strings.Join(got, ""), secret) {
					t.Error("a message shows a secret")
				}
			}
		})
	}
}

func TestWhoHasAPermissionThroughAWildcard(t *testing.T) {
	c := Config{
		Roles: map[string][]string{"wide": {"*:read"}, "exact": {"tap:read", "*:read"}},
		Tokens: []TokenConfig{
			token("reader", "A", "reader"), token("admin", "A", "admin"), token("ingest", "A", "ingest"), token("wide", "A", "wide"),
			token("exact", "A", "exact"), token("all of tap", "A", "", "tap:*"), token("named", "A", "", "tap:read"),
		},
		AnonymousPermissions: []string{"*:read"},
	}
	want := []string{`token "reader"`, `token "admin"`, `token "wide"`, `token "all of tap"`, "callers without a token"}
	if got := c.Wildcards("tap:read"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
