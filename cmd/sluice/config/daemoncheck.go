package config

import (
	"errors"
	"strings"

	"github.com/sluicehq/sluice/http/server"
)

// CheckDaemon is Check for the daemon's section, together with what its
// settings demand of each other. environ resolves the variables that hold
// secrets; none of their values reaches a message.
func (l *Loaded) CheckDaemon(getenv func(string) string) error {
	c := checker{l: l}
	c.section("global")
	c.section("daemon")
	d := &l.Config.Daemon
	if len(d.Rules) == 0 {
		c.fault("daemon.rules", "no rules are named (--rules, or daemon.rules in a file)")
	}
	if d.Input.JQ != "" && d.Input.JSONPath != "" {
		c.fault("daemon.input.jq", "excludes %s", l.Name("daemon.input.jsonpath"))
	}
	c.listener(d)
	c.access(d, getenv)
	c.audit(d)
	c.outputs(d)
	c.state(d)
	c.bus(d)
	c.capture(d)
	return errors.Join(c.faults...)
}

func (c *checker) listener(d *Daemon) {
	t := d.API.TLS
	secured := t.Cert != "" || t.Key != "" || t.ClientCA != ""
	switch {
	case (t.Cert == "") != (t.Key == ""):
		c.fault("daemon.api.tls.cert", "a certificate and its key belong together (--tls-cert, --tls-key)")
	case t.ClientCA != "" && t.Cert == "":
		c.fault("daemon.api.tls.client_ca", "needs a certificate (--tls-cert)")
	}
	if t.KeyPassword != "" {
		c.fault("daemon.api.tls.--tls-key-password", "encrypted keys are not supported")
	}
	addr, err := server.ParseAddress(d.API.Addr)
	if err != nil {
		return // reported as a value already
	}
	if err := addr.CheckTransport(secured, t.AllowPlaintext); err != nil {
		c.fault("daemon.api.addr", "%w", err)
	}
}

func (c *checker) access(d *Daemon, getenv func(string) string) {
	if name := d.API.TokenEnv; name != "" || c.l.Layer("daemon.api.--api-token-env") == LayerFlag {
		if d.API.Auth != nil {
			c.fault("daemon.api.--api-token-env", "excludes daemon.api.auth")
		}
		if strings.TrimSpace(getenv(name)) == "" {
			c.fault("daemon.api.--api-token-env", "the variable %q is unset or empty", name)
		}
	}
	if d.API.Auth != nil {
		c.auth(d.API.Auth, getenv)
	}
}

func (c *checker) auth(a *Auth, getenv func(string) string) {
	if len(a.Tokens) == 0 && len(a.AnonymousPermissions) == 0 {
		c.fault("daemon.api.auth", "neither tokens nor anonymous permissions: nobody could reach the API")
	}
	for name, permissions := range a.Roles {
		switch {
		case builtInRole(name):
			c.fault("daemon.api.auth.roles."+name, "a built-in role cannot be redefined")
		case len(permissions) == 0:
			c.fault("daemon.api.auth.roles."+name, "grants nothing")
		}
	}
	names, secrets := make(map[string]bool), make(map[string]string)
	for _, t := range a.Tokens {
		c.token(a, t, getenv(t.TokenEnv), secrets)
		if t.Name == "" || names[t.Name] {
			c.fault("daemon.api.auth.tokens", "the name %q is empty or used twice", t.Name)
		}
		names[t.Name] = true
	}
}

func (c *checker) token(a *Auth, t Token, secret string, secrets map[string]string) {
	const path = "daemon.api.auth.tokens"
	_, ownRole := a.Roles[t.Role]
	switch {
	case t.TokenEnv == "":
		c.fault(path, "token %q: token_env is missing", t.Name)
	case strings.TrimSpace(secret) == "":
		c.fault(path, "token %q: the variable %q is unset or empty", t.Name, t.TokenEnv)
	case secrets[secret] != "":
		c.fault(path, "tokens %q and %q have the same value", secrets[secret], t.Name)
	default:
		secrets[secret] = t.Name
	}
	switch {
	case (t.Role == "") == (t.Permissions == nil):
		c.fault(path, "token %q: exactly one of role and permissions is needed", t.Name)
	case t.Role != "" && !ownRole && !builtInRole(t.Role):
		c.fault(path, "token %q: unknown role %q", t.Name, t.Role)
	}
}

func builtInRole(name string) bool {
	return name == "reader" || name == "operator" || name == "ingest" || name == "admin"
}

const errFormat = "format= is only supported on findings sinks"

func (c *checker) audit(d *Daemon) {
	a := d.API.Audit
	if a.Enabled != nil && *a.Enabled && d.State.DB == "" {
		c.fault("daemon.api.audit.enabled", "needs a state database (--state-db)")
	}
	if hasFormat(a.Sink) {
		c.fault("daemon.api.audit.sink", errFormat)
	}
}

func (c *checker) outputs(d *Daemon) {
	if hasFormat(d.Output.DLQ) {
		c.fault("daemon.output.dlq", errFormat)
	}
}

func hasFormat(spec string) bool {
	_, query, _ := strings.Cut(spec, "?")
	for option := range strings.SplitSeq(query, "&") {
		if strings.HasPrefix(option, "format=") {
			return true
		}
	}
	return false
}

func (c *checker) state(d *Daemon) {
	if d.State.Clear && d.State.Keep {
		c.fault("daemon.state.--clear-state", "excludes --keep-state")
	}
}

func (c *checker) bus(d *Daemon) {
	n := d.NATS
	if n.AckMode == "snapshot" && d.State.DB == "" {
		c.fault("daemon.nats.ack_mode", "snapshot needs a state database (--state-db)")
	}
	if (n.User == "") != (n.Password == "") {
		c.fault("daemon.nats.--nats-user", "--nats-user and --nats-password belong together")
	}
	if (n.TLSCert == "") != (n.TLSKey == "") {
		c.fault("daemon.nats.--nats-tls-cert", "--nats-tls-cert and --nats-tls-key belong together")
	}
	c.atMostOne("daemon.nats.", map[string]bool{
		"--nats-creds": n.Creds != "", "--nats-token": n.Token != "",
		"--nats-user": n.User != "" || n.Password != "", "--nats-nkey": n.NKey != "",
	})
	c.atMostOne("daemon.nats.", map[string]bool{
		"--replay-from-sequence": n.ReplayFromSequence != "", "--replay-from-time": n.ReplayFromTime != "",
		"--replay-from-latest": n.ReplayFromLatest,
	})
}

func (c *checker) capture(d *Daemon) {
	k := d.Capture
	if !k.Enabled {
		return
	}
	if !d.Dispositions.Enabled && d.Dispositions.Source == "" {
		c.fault("daemon.capture.enabled", "needs dispositions (--enable-dispositions)")
	}
	if k.SpoolDir == "" {
		c.fault("daemon.capture.spool_dir", "is required with capture")
	}
	if k.MaxEventBytes > k.MaxBytesPerIncident || k.MaxBytesPerIncident > k.MaxCaptureBytes {
		c.fault("daemon.capture.max_event_bytes",
			"max_event_bytes, max_bytes_per_incident and max_capture_bytes must ascend")
	}
}

// CheckEval is Check for one-shot evaluation, together with what its settings
// demand of each other.
func (l *Loaded) CheckEval() error {
	c := checker{l: l}
	c.section("global")
	c.section("eval")
	e := &l.Config.Eval
	if len(e.Rules) == 0 {
		c.fault("eval.rules", "no rules are named (--rules, or eval.rules in a file)")
	}
	if e.JQ != "" && e.JSONPath != "" {
		c.fault("eval.--jq", "excludes --jsonpath")
	}
	if e.ObserveFieldsReport != "" && !e.ObserveFields {
		c.fault("eval.--observe-fields-report", "needs --observe-fields")
	}
	return errors.Join(c.faults...)
}
