package daemon

import (
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/http/auth"
	"github.com/sluicehq/sluice/internal/plural"
)

// Protection says, as attributes of a record, what keeps strangers from the API.
func Protection(c config.API) []any {
	transport, callers := "off", "off"
	if version, err := c.TLS.Version(); c.TLS.On() && err == nil {
		transport = version
		if c.TLS.ClientCA != "" {
			transport += ", client certificates required"
		}
	}
	if set, err := auth.Choose(c.TokenEnv, c.Auth); err == nil && set != nil {
		callers = plural.Of(len(set.Tokens), "token")
		if len(set.AnonymousPermissions) > 0 {
			callers += ", anonymous permissions"
		}
	}
	return []any{"tls", transport, "authentication", callers}
}
