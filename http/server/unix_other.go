//go:build !unix

package server

import (
	"fmt"
	"log/slog"
	"net"
)

type socket struct{}

func (*socket) remove() error { return nil }

func listenUnix(path string, _ *slog.Logger) (net.Listener, *socket, error) {
	return nil, nil, fmt.Errorf("bind socket %s: unix:// addresses need a Unix system", path)
}
