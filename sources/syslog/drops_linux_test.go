package syslog

import (
	"io"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sources/sourcetest"
)

// Datagrams that find the buffer of the system full are dropped, and counted.
func TestDroppedDatagramsAreCounted(t *testing.T) {
	i := open(t, UDP, Files{})
	if _, known := dropped(i.source.(*datagrams).socket.(*socket).conn); !known {
		t.Skip("this system does not tell")
	}
	i.in = sourcetest.NewIntake(1 << 30)
	c := dial(t, i, nil)
	large := strings.Repeat("x", 60_000)
	const sent = 2000 // 120 MB
	for range sent {
		if _, err := io.WriteString(c, large); err != nil {
			t.Fatal(err)
		}
	}
	lost := i.count(t, "syslog_datagrams_dropped_total", "")
	if lost == 0 {
		t.Error("no datagram is counted as dropped")
	}
	i.run(t)
	until(t, "the rest", func() bool { return float64(len(i.in.Lines()))+lost == sent })
	if err := i.Close(); err != nil {
		t.Error(err)
	}
	if got := i.count(t, "syslog_datagrams_dropped_total", ""); got != lost {
		t.Errorf("%g dropped after the end, want %g as before", got, lost)
	}
}
