//go:build no_otlp

package daemon

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/http/auth"
)

// receiver is none: the server answers calls over gRPC as unimplemented.
type receiver struct{}

func (*receiver) register(prometheus.Registerer) error { return nil }

func (*Daemon) answerCalls(*auth.Gate) {}

func (*Daemon) mountLogs(*api.Resources) {}
