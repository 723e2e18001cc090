package dial_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sluicehq/sluice/internal/natsconn/dial"
)

// stranger is a server that sends what it greets with, and then waits for its clients.
func stranger(greeting string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			_, _ = theirs.Write([]byte(greeting))
			_, _ = theirs.Read(make([]byte, 1)) // until the client gives up
		}()
		return ours, nil
	}
}

func TestAServerThatIsNotOfNATSIsToldOf(t *testing.T) {
	for _, tc := range []struct{ name, greeting, want string }{
		{"one that waits for its clients", "", "timeout"},
		{"one that greets as others do", "SSH-2.0-OpenSSH_9.6\r\n", "INFO not received"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := dial.Dialer{Log: slog.New(slog.DiscardHandler), Dial: stranger(tc.greeting)}
				_, err := d.Connect("nats://127.0.0.1:22", "test", dial.Events{})
				if err == nil || !strings.Contains(err.Error(), "nobody answers as a NATS server does: is the port right") || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want a question about the port with %q", err, tc.want)
				}
			})
		})
	}
}
