//go:build !no_nats

package sink

import "github.com/sluicehq/sluice/actors/sink/nats"

var natsKind = about{
	kind: KindNATS, schemes: []string{"nats"}, usage: "nats://host:port/subject", unit: true,
	check: func(s Spec) error { return nats.Check(s.Target) },
	open: func(s Spec, e Environment) (Transport, error) {
		return nats.Open(nats.Options{Dialer: e.NATS, Target: s.Target, Label: e.Label, Name: "sluice " + e.Label})
	},
}
