package otlptest

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Network connects a client with a listener, and can be cut.
type Network struct {
	pipe func() (near, far net.Conn)
	come chan net.Conn
	done chan struct{}
	once sync.Once

	mu   sync.Mutex // guards the rest
	down bool
	open []net.Conn
}

// NewNetwork returns a network of connections that pipe makes.
func NewNetwork(pipe func() (near, far net.Conn)) *Network {
	return &Network{pipe: pipe, come: make(chan net.Conn), done: make(chan struct{})}
}

var errDown = errors.New("the network is down")

// Dial connects to the listener.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down {
		return nil, errDown
	}
	near, far := n.pipe()
	n.open = append(n.open, near, far)
	select {
	case n.come <- far:
		return near, nil
	case <-n.done:
		return nil, errDown
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Cut ends all connections and refuses new ones until mend is called.
func (n *Network) Cut() (mend func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = true
	for _, c := range n.open {
		_ = c.Close()
	}
	n.open = nil
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.down = false
	}
}

// Accept implements net.Listener.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.come:
		return c, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (n *Network) Close() error {
	n.once.Do(func() { close(n.done) })
	return nil
}

// Addr implements net.Listener.
func (*Network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4317} }
