package acceptance

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/certs/certstest"
)

// What is misread of the sections that protect the API refuses the start; elsewhere, and
// where a name is only close to theirs, it stays a warning.
func TestProtectionThatIsMisreadRefusesTheStart(t *testing.T) {
	plainly(t)
	const tokens = "tokens: [{name: ann, token_env: ADMIN, role: admin}]"
	for _, tc := range []struct {
		name, api, env string
		want           string
		code           int // of validation; a start that is not refused is not tried
		not            string
	}{
		{
			"a variable with a bracket missing", "", "SLUICE_DAEMON__API__AUTH__TOKENS=[{name: admin, token_env: ADMIN, role: admin}",
			"daemon.api.auth.tokens: environment variable SLUICE_DAEMON__API__AUTH__TOKENS cannot be read: ", 3, "is ignored",
		},
		{"a variable of the whole section", "", "SLUICE_DAEMON__API__AUTH={tokens: [}", "SLUICE_DAEMON__API__AUTH cannot be read: ", 3, ""},
		{"a variable of what the section is in", "", "SLUICE_DAEMON__API={auth: {tokens: [}}", "SLUICE_DAEMON__API cannot be read: ", 3, ""},
		{"a variable of another type", "", "SLUICE_DAEMON__API__AUTH__TOKENS=ann", "SLUICE_DAEMON__API__AUTH__TOKENS cannot be read: daemon.api.auth.tokens: want a list", 3, "neither tokens"},
		{"a variable that is empty", "", "SLUICE_DAEMON__API__AUTH=", "SLUICE_DAEMON__API__AUTH cannot be read: ", 3, ""},
		{"a variable of null", "", "SLUICE_DAEMON__API__AUTH=null", "environment variable SLUICE_DAEMON__API__AUTH: daemon.api.auth: the section is empty", 3, ""},
		{"a variable of TLS", "", "SLUICE_DAEMON__API__TLS__CLIENT_CA=[", "SLUICE_DAEMON__API__TLS__CLIENT_CA cannot be read: ", 3, ""},
		{"a variable with an unknown key", "", "SLUICE_DAEMON__API__TLS__CLIENTCA=/ca", "environment variable SLUICE_DAEMON__API__TLS__CLIENTCA: daemon.api.tls.clientca: unknown config key: correct or remove it (did you mean 'daemon.api.tls.client_ca'?)", 3, ""},
		{"a key of TLS", "tls: {clientca: /ca}", "", "daemon.api.tls.clientca: unknown config key: correct or remove it (did you mean 'daemon.api.tls.client_ca'?)", 3, ""},
		{"a key of the section", "auth: {" + tokens + ", tokns: []}", "", "daemon.api.auth.tokns: unknown config key: correct or remove it (did you mean 'daemon.api.auth.tokens'?)", 3, ""},
		{"a key of a token", "auth: {tokens: [{name: ann, token_env: ADMIN, role: admin, rol: x}]}", "", "daemon.api.auth.tokens[0].rol: unknown config key", 3, ""},
		{"an empty section", "auth:", "", "sluice.yaml:5: daemon.api.auth: the section is empty and has no effect: fill it, or remove it", 3, ""},
		{"tokens that are a mapping", "auth: {tokens: {name: ann}}", "", "daemon.api.auth.tokens: want a list, got a mapping", 3, "neither tokens"},
		{"permissions that are text", "auth: {tokens: [{name: ann, token_env: ADMIN, permissions: 'rules:read, status:read'}]}", "", "daemon.api.auth.tokens[0].permissions: want a list", 3, "neither tokens"},
		{"a wildcard without quotes", "auth: {roles: {duty: [*:read, actors:write]}}", "", "text that begins with * or & has to be quoted", 3, ""},
		{"a key that is close to the section", "auht: {" + tokens + "}", "", "did you mean 'daemon.api.auth'?", 0, ""},
		{"a variable that is close to one of the section", "", "SLUICE_DAEMON__API__AUTH_TOKENS=[", "SLUICE_DAEMON__API__AUTH_TOKENS is ignored", 0, ""},
		{"a variable of something else", "", "SLUICE_DAEMON__INPUT__BUFFER_SIZE=[", "SLUICE_DAEMON__INPUT__BUFFER_SIZE is ignored", 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "r/a.yml", rule("A", "evil"))
			file := write(t, dir, "sluice.yaml", "daemon:\n  rules: "+filepath.Join(dir, "r")+"\n  api:\n    addr: '127.0.0.1:0'\n    "+tc.api+"\n")
			for _, args := range [][]string{{"config", "validate", "--config", file}, {"engine", "daemon", "--config", file}} {
				if tc.code == 0 && args[0] == "engine" {
					continue
				}
				cmd := command(t, args...)
				cmd.Env = append(append(cmd.Env, environment()...), tc.env)
				got := finish(t, cmd, "")
				text := got.stdout + got.stderr
				if got.code != tc.code || !strings.Contains(text, tc.want) {
					t.Errorf("%s: exit code %d, %s, want %d and %s", args[0], got.code, text, tc.code, tc.want)
				}
				if tc.not != "" && strings.Contains(text, tc.not) || strings.Contains(text, "listening") {
					t.Errorf("%s: says too much: %s", args[0], text)
				}
			}
		})
	}
}

// The first record and that of the listener say what protects the API, and an API that is
// open to a network is warned of.
func TestTheLogSaysWhatProtectsTheAPI(t *testing.T) {
	ours := certstest.New(t, "ours")
	cert, key := ours.Issue("localhost", time.Hour*24*365)
	const (
		open    = "everybody who reaches 0.0.0.0:0 may use the API: ask for tokens (--api-token-env, daemon.api.auth) or for client certificates (--tls-client-ca)"
		inClear = "tokens and events go to and from 0.0.0.0:0 in clear: serve TLS (--tls-cert, --tls-key)"
	)
	withTLS := "--tls-cert " + cert + " --tls-key " + key
	for _, tc := range []struct {
		name, args, want, warning string
	}{
		{"nothing, on loopback", "--api-addr 127.0.0.1:0", `"tls":"off","authentication":"off"`, ""},
		{"nothing, on every address", "--api-addr 0.0.0.0:0 --allow-plaintext", `"tls":"off","authentication":"off"`, open},
		{"TLS alone", "--api-addr 0.0.0.0:0 " + withTLS, `"tls":"1.3","authentication":"off"`, open},
		{"client certificates", "--api-addr 0.0.0.0:0 --tls-client-ca " + ours.File + " " + withTLS, `"tls":"1.3, client certificates required","authentication":"off"`, ""},
		{"a token in clear", "--api-addr 0.0.0.0:0 --allow-plaintext --api-token-env ADMIN", `"tls":"off","authentication":"1 token"`, inClear},
		{"a token and TLS", "--api-addr 0.0.0.0:0 --api-token-env ADMIN --tls-min-version 1.2 " + withTLS, `"tls":"1.2","authentication":"1 token"`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "rules/a.yml", rule("A", "evil"))
			cmd := command(t, append([]string{"engine", "daemon", "-r", filepath.Join(dir, "rules")}, strings.Fields(tc.args)...)...)
			cmd.Env = append(cmd.Env, environment()...)
			got := finish(t, cmd, "") // the input is empty, so it ends by itself
			if got.code != 0 || strings.Count(got.stderr, tc.want) != 2 {
				t.Errorf("exit code %d, want 0 and two records with %s:\n%s", got.code, tc.want, got.stderr)
			}
			for _, w := range []string{open, inClear} {
				if strings.Contains(got.stderr, w) != (w == tc.warning) {
					t.Errorf("want the warning %q:\n%s", tc.warning, got.stderr)
				}
			}
		})
	}
}

// A file of TLS is reported under the setting that names it.
func TestFilesOfTLSAreReportedUnderTheirSettings(t *testing.T) {
	ours := certstest.New(t, "ours")
	cert, key := ours.Issue("localhost", time.Hour)
	dir := t.TempDir()
	write(t, dir, "r/a.yml", rule("A", "evil"))
	for args, want := range map[string]string{
		"--tls-cert /missing --tls-key " + key:                                   "--tls-cert: Failed to initialize TLS: /missing: ",
		"--tls-cert " + cert + " --tls-key /missing":                             "--tls-key: Failed to initialize TLS: /missing: ",
		"--tls-cert " + cert + " --tls-key " + key + " --tls-client-ca /missing": "--tls-client-ca: Failed to initialize TLS: /missing: ",
		"--tls-cert " + cert + " --tls-key " + key + " --tls-client-ca " + key:   "--tls-client-ca: Failed to initialize TLS: " + key + ": the file holds no certificate",
		"--tls-cert " + cert + " --tls-key /no --tls-client-ca /missing":         "--tls-client-ca: Failed to initialize TLS: /missing: ",
		"--api-token-env $ADMIN":                                                 "--api-token-env: token \"default\": token_env: it takes the name of the variable that holds the token, written without $",
	} {
		got := sluice(t, "", append([]string{"engine", "daemon", "-r", filepath.Join(dir, "r"), "--api-addr", "127.0.0.1:0"}, strings.Fields(args)...)...)
		if got.code != 3 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: exit code %d, %s, want 3 and %s", args, got.code, got.stderr, want)
		}
	}
}
