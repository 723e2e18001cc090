package childtest_test

import (
	"io"
	"net"
	"strconv"
	"testing"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/childtest"
)

func TestMain(m *testing.M) {
	childtest.Be("another", func(int, string) error { panic("nobody started it") })
	childtest.Be("greeter", func(port int, greeting string) error {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return err
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, greeting)
				_ = conn.Close()
			}
		}()
		childtest.Hold(l.Addr().String())
		return l.Close()
	})
	leaktest.Main(m)
}

func TestAServerIsBackAtItsAddressAfterAKill(t *testing.T) {
	p := childtest.Start(t, "greeter", "hello|you")
	addr := p.Addr
	for round := range 3 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(conn); err != nil || string(got) != "hello|you" {
			t.Errorf("round %d: got %q, %v", round, got, err)
		}
		_ = conn.Close()
		p.Kill()
		p.Kill() // it has ended already
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			t.Fatalf("round %d: the server is there after the kill", round)
		}
		if p.Up(); p.Addr != addr {
			t.Fatalf("round %d: the server is at %s, want %s", round, p.Addr, addr)
		}
	}
}
