//go:build !no_nats

package inputs

import (
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/internal/natsconn/dial"
	"github.com/sluicehq/sluice/sources/jetstream"
)

var natsKind = Kind{
	Name: "nats", Schemes: []string{"nats"}, Usage: "nats://host:port/subject", Parameters: []string{"group"},
	Instead: map[string]string{"ack": "--nats-ack-mode says for all NATS inputs when messages are acknowledged"},
	Check:   checkNATS, Replays: true, Section: "nats",
	CheckLogin: func(cfg *config.Daemon, _ Spec, now time.Time, fault func(key string, err error)) {
		dial.Check(cfg.NATS.Config, now, fault)
	},
	Open: func(env Environment, s Spec) (Opened, error) {
		in := natsInput(env.Config, s)
		source, err := jetstream.Open(jetstream.Options{
			Dialer: dial.Dialer{Config: env.Config.NATS.Config, Log: logging.Target(env.Log, "sluice.nats")},
			Target: s.Target, Name: "sluice input", Input: in,
			MaxAckPending: env.Config.Input.BufferSize, Metrics: env.Metrics.nats,
			Claim: func(stream string, created time.Time, name string) error {
				return env.claim(s, consumer{stream, created.UnixNano(), name})
			},
		})
		if err != nil {
			return Opened{}, err
		}
		return Opened{Source: source}, nil
	},
}
