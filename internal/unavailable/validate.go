package unavailable

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicehq/sluice/sigma/timespan"
)

// Validate reports roles and tokens that grant nothing, or what they may not.
func (a Auth) Validate(fault func(key string, err error)) {
	if len(a.Tokens) == 0 && len(a.AnonymousPermissions) == 0 {
		fault("", errors.New("neither tokens nor anonymous permissions: nobody could reach the API"))
	}
	for name, permissions := range a.Roles {
		switch {
		case builtInRole(name):
			fault("roles."+name, errors.New("a built-in role cannot be redefined"))
		case len(permissions) == 0:
			fault("roles."+name, errors.New("grants nothing"))
		}
	}
	names := make(map[string]bool)
	for i, t := range a.Tokens {
		_, ownRole := a.Roles[t.Role]
		key := fmt.Sprintf("tokens[%d]", i)
		switch {
		case (t.Role == "") == (t.Permissions == nil):
			fault(key, fmt.Errorf("token %q: exactly one of role and permissions is needed", t.Name))
		case t.Role != "" && !ownRole && !builtInRole(t.Role):
			fault(key, fmt.Errorf("token %q: unknown role %q", t.Name, t.Role))
		}
		if t.Name == "" || names[t.Name] {
			fault(key, fmt.Errorf("the name %q is empty or used twice", t.Name))
		}
		names[t.Name] = true
	}
}

func builtInRole(name string) bool {
	return slices.Contains([]string{"reader", "operator", "ingest", "admin"}, name)
}

// Secrets reports variables of tokens that hold nothing, or what another one
// holds. No message shows a value.
func (a Auth) Secrets(getenv func(string) string, fault func(key string, err error)) {
	owners := make(map[string]string)
	for i, t := range a.Tokens {
		key, secret := fmt.Sprintf("tokens[%d]", i), getenv(t.TokenEnv)
		switch {
		case t.TokenEnv == "":
			fault(key, fmt.Errorf("token %q: token_env is missing", t.Name))
		case strings.TrimSpace(secret) == "":
			fault(key, fmt.Errorf("token %q: the variable %q is unset or empty", t.Name, t.TokenEnv))
		case owners[secret] != "":
			fault(key, fmt.Errorf("tokens %q and %q have the same value", owners[secret], t.Name))
		default:
			owners[secret] = t.Name
		}
	}
}

// Validate reports ways to replay that exclude each other.
func (n NATS) Validate(fault func(key string, err error)) {
	atMostOne(fault, map[string]bool{
		"--replay-from-sequence": n.ReplayFromSequence != "", "--replay-from-time": n.ReplayFromTime != "",
		"--replay-from-latest": n.ReplayFromLatest,
	})
	if _, err := strconv.ParseUint(n.ReplayFromSequence, 10, 64); err != nil && n.ReplayFromSequence != "" {
		fault("--replay-from-sequence", fmt.Errorf("%q is no sequence number", n.ReplayFromSequence))
	}
	if _, err := time.Parse(time.RFC3339, n.ReplayFromTime); err != nil && n.ReplayFromTime != "" {
		fault("--replay-from-time", fmt.Errorf("%q is no RFC 3339 time", n.ReplayFromTime))
	}
}

func atMostOne(fault func(key string, err error), given map[string]bool) {
	var names []string
	for name, yes := range given {
		if yes {
			names = append(names, name)
		}
	}
	if len(names) > 1 {
		slices.Sort(names)
		fault(names[0], fmt.Errorf("excludes %s", strings.Join(names[1:], " and ")))
	}
}

// Validate reports bounds that contradict each other.
func (c Capture) Validate(fault func(key string, err error)) {
	if c.TTL < timespan.Seconds(1) {
		fault("ttl", errors.New("must be at least 1s"))
	}
	if c.Enabled && c.SpoolDir == "" {
		fault("spool_dir", errors.New("is required with capture"))
	}
	if c.Enabled && (c.MaxEventBytes > c.MaxBytesPerIncident || c.MaxBytesPerIncident > c.MaxCaptureBytes) {
		fault("max_event_bytes", errors.New("max_event_bytes, max_bytes_per_incident and max_capture_bytes must ascend"))
	}
}
