package daemon

import (
	"net/http"
	"os"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/http/auth"
)

// newPolicy reads the secrets of all tokens. It returns nil without authentication.
func newPolicy(c config.API) (*auth.Policy, error) {
	set, err := auth.Choose(c.TokenEnv, c.Auth)
	if err != nil {
		return nil, configFaultf("--api-token-env: %w", err)
	}
	if set == nil {
		return nil, nil
	}
	p, err := auth.New(*set, os.Getenv)
	if err != nil {
		return nil, configFaultf("daemon.api.auth: %w", err)
	}
	return p, nil
}

// authenticate has every endpoint and every call ask the policy, if there is one.
func (d *Daemon) authenticate(o *api.Options) {
	if d.policy == nil {
		d.answerCalls(nil)
		return
	}
	gate := auth.NewGate(d.policy, d.series.auth, logging.Target(d.log, "sluice.auth"))
	d.answerCalls(gate)
	d.features = append(d.features, actors.Feature{Name: "auth", Close: gate.Close})
	o.Caller = auth.Caller
	o.Protect = func(e api.Endpoint, next http.Handler) http.Handler {
		permissions := []string{e.Permission}
		if e.Also != "" {
			permissions = append(permissions, e.Also)
		}
		return gate.Protect(auth.Endpoint{Pattern: e.Pattern, Permissions: permissions, Open: e.Open}, next)
	}
}
