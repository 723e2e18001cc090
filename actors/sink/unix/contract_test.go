package unix_test

import (
	"testing"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/actors/sink/unix"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/modetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestContract(t *testing.T) {
	var r *receiver
	sinktest.Contract(t, sinktest.Harness{
		Kind: sink.KindUnix,
		New: func(t *testing.T, m modetest.Mode) (sink.Transport, func() []string) {
			t.Helper()
			r = listen(t, m)
			if !m.Real() {
				return unix.New(r.dial(t)), r.lines
			}
			transport, err := unix.Open(t.Context(), r.path)
			if err != nil {
				t.Fatal(err)
			}
			m.Until(t, r.connected) // what is written before is lost in a socket that stops
			return transport, r.lines
		},
		Break: func(t *testing.T) func() {
			t.Helper()
			r.stop()
			return func() { r.start(t) }
		},
	})
}
