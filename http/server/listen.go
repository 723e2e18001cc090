package server

import (
	"fmt"
	"log/slog"
	"net"

	"github.com/sluicehq/sluice/internal/socketfile"
)

// listen binds a and returns the address with the real port. The socket is nil
// for TCP.
func listen(a Address, log *slog.Logger) (net.Listener, Address, *socketfile.File, error) {
	if a.Unix() {
		l, file, err := socketfile.Listen(a.path, log)
		if err != nil {
			return nil, a, nil, err
		}
		return l, a, file, nil
	}
	network := "tcp" // [::] serves both families
	if a.tcp.Addr().Is4() {
		network = "tcp4" // 0.0.0.0 means what it says
	}
	l, err := net.Listen(network, a.tcp.String())
	if err != nil {
		return nil, a, nil, fmt.Errorf("bind api address %s: %w", a, err)
	}
	if t, ok := l.Addr().(*net.TCPAddr); ok {
		a.tcp = t.AddrPort()
	}
	return l, a, nil, nil
}
