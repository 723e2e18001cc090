package checks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/http/auth"
)

// auth checks who may use the API. The permission for tap sessions comes with many
// others, and shows whole events: who has it that way is told while they are on.
func (c *checking) auth() {
	const (
		flag    = "daemon.api.--api-token-env"
		section = "daemon.api.auth"
	)
	set, err := auth.Choose(c.d.API.TokenEnv, c.d.API.Auth)
	switch {
	case c.l.Made(flag) && c.d.API.TokenEnv == "":
		c.fault(flag, errors.New("names no variable"))
		return
	case err != nil:
		c.fault(flag, err)
		return
	case set == nil:
		return
	case c.d.API.Auth == nil:
		set.Check(c.getenv, func(_ string, err error) { c.fault(flag, err) })
		set.Doubts(api.Permissions(), c.getenv, func(_ string, err error) { c.warn(flag, err) })
	default:
		// The line is that of the token or the role, and the message names it.
		within := func(key string, err error) (string, error) {
			return strings.TrimSuffix(section+"."+key, "."), err
		}
		unread := slices.ContainsFunc(c.problems, func(p config.Problem) bool { return strings.HasPrefix(p.Key, section+".") })
		set.Check(c.getenv, func(key string, err error) {
			if key == "" && unread {
				return // what seems to be missing is there, and reported already
			}
			p := c.l.Problem(within(key, err))
			p.Key = section
			c.problems = append(c.problems, p)
		})
		set.Doubts(api.Permissions(), c.getenv, func(key string, err error) {
			p := c.l.Problem(within(key, err))
			p.Key = section
			c.warnings = append(c.warnings, p)
		})
	}
	const tap = "tap:read"
	if who := set.Wildcards(tap); c.d.Tap.Enabled && len(who) > 0 {
		at := section
		if c.d.API.Auth == nil {
			at = flag
		}
		c.warn(at, fmt.Errorf("tap sessions show whole events, and a wildcard gives the permission %s to %s", tap, strings.Join(who, ", ")))
	}
}
