//go:build !no_otlp

package sink

import (
	"time"

	"github.com/sluicehq/sluice/actors/sink/otlp"
	"github.com/sluicehq/sluice/graph"
)

var otlpKind = row{
	kind: KindOTLP, schemes: otlp.Schemes, usage: "otlp://<host>[:<port>]", parameters: otlp.Parameters, unit: true, linger: true,
	check: func(s Spec) error { return otlp.Check(s.Scheme, s.Target, s.Options, time.Now()) },
	form:  func(Spec, Environment) graph.Form { return otlp.Form{} },
	text:  otlp.AppendLine,
	open: func(s Spec, e Environment) (Transport, error) {
		return otlp.Open(s.Scheme, s.Target, s.Options, e.Version, e.Now, e.Log)
	},
}
