//go:build !no_nats

package sink

import (
	"time"

	"github.com/sluicehq/sluice/actors/sink/nats"
	"github.com/sluicehq/sluice/internal/natsconn/dial"
)

var natsKind = row{
	kind: KindNATS, schemes: []string{"nats"}, usage: "nats://host:port/subject", unit: true, window: 16,
	check: func(s Spec) error { return nats.Check(s.Target) },
	login: func(c Logins, now time.Time, fault func(key string, err error)) { dial.Check(c.NATS, now, fault) },
	open: func(s Spec, e Environment) (Transport, error) {
		return nats.Open(nats.Options{Dialer: dial.Dialer{Config: e.NATS.Config, Log: e.NATS.Log}, Target: s.Target, Label: e.Label, Name: "sluice " + e.Label})
	},
}
