package server

import (
	"context"
	"net"
	"net/http"
	"syscall"
	"time"
)

// watchInterval is how soon a client that leaves in the middle of its body is
// noticed.
const watchInterval = time.Second

type connKey struct{}

// withConn makes the connection of a request findable.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// endWhenClientLeaves returns a context that ends when the client closes the
// connection before all of body was read. net/http looks for that only behind
// the end of a body, and a handler that waits for room, not reading, would wait
// for a client that is long gone.
func endWhenClientLeaves(r *http.Request, body *watchedBody) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	conn := rawConn(r.Context())
	if conn == nil {
		return ctx, cancel
	}
	check := make(chan *time.Timer, 1) // the timer, for its own function
	timer := time.AfterFunc(watchInterval, func() {
		switch t := <-check; {
		case ctx.Err() != nil || body.ended.Load():
		case hungUp(conn):
			cancel()
		default:
			check <- t
			t.Reset(watchInterval)
		}
	})
	check <- timer
	return ctx, func() {
		timer.Stop()
		cancel()
	}
}

func rawConn(ctx context.Context) syscall.Conn {
	c := ctx.Value(connKey{})
	for {
		wrapped, ok := c.(interface{ NetConn() net.Conn }) // ours, and TLS
		if !ok {
			raw, _ := c.(syscall.Conn)
			return raw
		}
		c = wrapped.NetConn()
	}
}
