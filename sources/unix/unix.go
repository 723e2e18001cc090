// Package unix is the input of lines on a stream socket of this machine.
//
// The socket belongs to the user of the daemon alone. The file goes when the source has
// ended. What a client has sent is handed over although it has left; its lines carry no
// token, so what a crash of the daemon takes with it is lost.
package unix

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/sluicehq/sluice/internal/socketfile"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/accept"
)

// Name is that of the input as a label.
const Name = "unix"

// Source reads what the clients of one socket send.
type Source struct {
	server *accept.Server
	file   *socketfile.File
}

// Check reports a path at which no socket can be bound.
func Check(path string) error {
	if !filepath.IsAbs(path) || path == "/" {
		return errors.New("the path of a unix socket must be absolute: unix:///path")
	}
	return socketfile.Check(path)
}

// Listen binds path. Clients wait until Run is called.
func Listen(path string, maxConnections int, log *slog.Logger, counters *accept.Counters) (*Source, error) {
	l, file, err := socketfile.Listen(path, log)
	if errors.Is(err, socketfile.ErrInUse) {
		return nil, fmt.Errorf("unix socket %s is already in use by a running process", path)
	}
	if err != nil {
		return nil, err
	}
	log.Info("listening for events", "source", "unix://"+path)
	return &Source{file: file, server: accept.New(l, accept.Options{
		Name: Name, Max: maxConnections, Log: log, Counters: counters, Reader: reader(),
	})}, nil
}

// reader makes the readers of connections, which share their buffers.
func reader() func(sources.Pausing) sources.PausingReader {
	buffers := new(sources.Buffers)
	return func(s sources.Pausing) sources.PausingReader { return buffers.NewPausingReader(s) }
}

// Run implements sources.Source.
func (s *Source) Run(ctx context.Context, in sources.Intake) error {
	return errors.Join(s.server.Run(ctx, in), s.file.Remove())
}

// Close lets the socket go. It may follow Run.
func (s *Source) Close() error {
	_ = s.server.Close()
	return s.file.Remove()
}
