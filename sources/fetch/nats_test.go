//go:build !no_nats

package fetch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
	"github.com/sluicehq/sluice/sources/fetch"
)

// onNATS declares a source of a server.
func onNATS(t *testing.T, s *natstest.Server, keys string) *fetch.Declaration {
	t.Helper()
	return declared(t, fmt.Sprintf(`{id: a, type: nats, url: "nats://%s", subject: feed.x, format: json, %s}`, strings.TrimSuffix(s.Target(""), "/"), keys))
}

// publishing publishes a message again and again, until the test ends.
func publishing(t *testing.T, s *natstest.Server, subject string, data []byte, options ...nats.Option) {
	t.Helper()
	nc, _ := s.Client(options...)
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			_ = nc.Publish(subject, data)
			_ = nc.Flush()
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	t.Cleanup(func() {
		close(stop)
		running.Wait()
		nc.Close()
	})
}

func TestOneMessage(t *testing.T) {
	for _, tc := range []struct{ name, data, keys, want, err string }{
		{"a value", " [1, 2] ", "", "[1,2]", ""},
		{"and what is extracted from it", "[1,2]", "extract: '.[1]'", "2", ""},
		{"a first message of a source of push", "5", "refresh: push", "5", ""},
		{"what is no value", "{", "", "", "Parse|invalid JSON"},
		{"what gives nothing", "[]", "extract: '.[1]'", "", "Extract|produced no data"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := natstest.Start(t, nil)
			publishing(t, s, "feed.other", []byte(`"other"`))
			publishing(t, s, "feed.x", []byte(tc.data))
			c, log := client(t, fetch.Options{})
			v, err := c.Fetch(t.Context(), onNATS(t, s, "timeout: 60, "+tc.keys), nil)
			if string(v.JSON) != tc.want || v.Pending || !fails(t, err, tc.err) {
				t.Errorf("got %+v, %v, want %s, %s", v, err, tc.want, tc.err)
			}
			if strings.Contains(log.String(), "level=INFO") {
				t.Errorf("logged %s", log)
			}
		})
	}
}

func TestLargeMessages(t *testing.T) {
	s := natstest.Start(t, func(o *server.Options) { o.MaxPayload = 16 << 20; o.MaxPending = 64 << 20 })
	for size, want := range map[int]string{10 << 20: "", 10<<20 + 1: "ResourceLimit|resource limit exceeded: message exceeds 10485760 byte limit"} {
		data := bytes.Repeat([]byte(" "), size)
		data[0] = '5'
		func() {
			nc, _ := s.Client()
			defer nc.Close()
			c, _ := client(t, fetch.Options{})
			ready := make(chan struct{})
			go func() {
				defer close(ready)
				for s.Server().NumSubscriptions() == 0 || nc.NumSubscriptions() > 0 {
					time.Sleep(time.Millisecond)
				}
			}()
			got := make(chan error, 1)
			go func() {
				v, err := c.Fetch(t.Context(), onNATS(t, s, "timeout: 60"), nil)
				if err == nil && string(v.JSON) != "5" {
					err = errors.New(string(v.JSON))
				}
				got <- err
			}()
			<-ready
			for {
				if err := nc.Publish("feed.x", data); err != nil {
					t.Fatal(err)
				}
				_ = nc.Flush()
				select {
				case err := <-got:
					if !fails(t, err, want) {
						t.Errorf("%d bytes: got %v, want %s", size, err, want)
					}
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		}()
	}
}

// virtual runs a test with a server in virtual time.
func virtual(t *testing.T, run func(t *testing.T, s *natstest.Server, o fetch.Options)) {
	t.Helper()
	natstest.Bubbles(t)
	synctest.Test(t, func(t *testing.T) {
		s := natstest.InMemory(t)
		run(t, s, fetch.Options{DialNATS: s.Dial})
	})
}

func TestNoMessageInTime(t *testing.T) {
	for _, tc := range []struct {
		name, keys string
		took       time.Duration
		err        string
	}{
		{"a source of any refresh", "", time.Second, "Timeout|timed out"},
		{"a source with a longer wait", "timeout: 5", 5 * time.Second, "Timeout|timed out"},
		{"a source of push is pending", "refresh: push", time.Second, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, s *natstest.Server, o fetch.Options) {
				t.Helper()
				c, _ := client(t, o)
				begun := time.Now()
				v, err := c.Fetch(t.Context(), onNATS(t, s, tc.keys), nil)
				if took := time.Since(begun); took != tc.took || !fails(t, err, tc.err) || v.Pending != (tc.err == "") || v.JSON != nil {
					t.Errorf("got %+v, %v after %s", v, err, took)
				}
			})
		})
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var far []net.Conn
		c, _ := client(t, fetch.Options{DialNATS: func(context.Context, string, string) (net.Conn, error) {
			near, peer := net.Pipe()
			far = append(far, peer)
			return near, nil
		}})
		begun := time.Now()
		_, err := c.Fetch(t.Context(), declared(t, `{id: a, type: nats, url: "nats://h:4222", subject: x, format: json, timeout: 300ms}`), nil)
		if took := time.Since(begun); took != 300*time.Millisecond || !fails(t, err, "Timeout|timed out") {
			t.Errorf("got %v after %s", err, took)
		}
		for _, peer := range far {
			_ = peer.Close()
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, _ := client(t, fetch.Options{DialNATS: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(200*time.Millisecond, cancel)
		begun := time.Now()
		_, err := c.Fetch(ctx, declared(t, `{id: a, type: nats, url: "nats://h:4222", subject: x, format: json}`), nil)
		if took := time.Since(begun); took != 200*time.Millisecond || !fails(t, err, "Fetch|it was called off") {
			t.Errorf("called off: got %v after %s", err, took)
		}
	})
}

func TestServersThatRefuse(t *testing.T) {
	locked := natstest.Start(t, func(o *server.Options) { o.Authorization = "right-secret" })
	silent := natstest.Start(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "u", Password: "p", Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Deny: []string{"feed.x"}}}}}
	})
	plain := natstest.Start(t, nil)
	gone := natstest.Start(t, nil)
	gone.Down()
	for _, tc := range []struct {
		name   string
		s      *natstest.Server
		config natsconn.Config
		scheme string
		want   string
	}{
		{"a wrong token", locked, natsconn.Config{Token: "wrong-secret"}, "nats", "Fetch|Authorization Violation"},
		{"no token", locked, natsconn.Config{}, "nats", "Fetch|--nats-creds"},
		{"a subject that is not allowed", silent, natsconn.Config{User: "u", Password: "p"}, "nats", "Fetch|ermissions "},
		{"a server without TLS", plain, natsconn.Config{}, "tls", "Fetch|the server has no TLS"},
		{"a server that is not there", gone, natsconn.Config{}, "nats", "Fetch|connection refused"},
	} {
		c, log := client(t, fetch.Options{NATS: natsconn.Client{Config: tc.config}})
		d := declared(t, fmt.Sprintf(`{id: a, type: nats, url: "%s://%s", subject: feed.x, format: json, timeout: 60}`, tc.scheme, strings.TrimSuffix(tc.s.Target(""), "/")))
		_, err := c.Fetch(t.Context(), d, nil)
		if !fails(t, err, tc.want) || strings.Contains(fmt.Sprint(err, log), "secret") {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

func TestLoginsAndTLS(t *testing.T) {
	ca := natstest.NewCA(t)
	s := natstest.Start(t, func(o *server.Options) {
		o.Authorization, o.TLS, o.TLSConfig = "right-secret", true, ca.Server(time.Hour)
	})
	publishing(t, s, "feed.x", []byte("5"), nats.Token("right-secret"), nats.RootCAs(ca.File))
	c, _ := client(t, fetch.Options{NATS: natsconn.Client{Config: natsconn.Config{Token: "right-secret", TLSCA: ca.File}}})
	d := declared(t, fmt.Sprintf(`{id: a, type: nats, url: "tls://%s", subject: feed.x, format: json, timeout: 60}`, strings.TrimSuffix(s.Target(""), "/")))
	if v, err := c.Fetch(t.Context(), d, nil); string(v.JSON) != "5" || err != nil {
		t.Errorf("got %s, %v", v.JSON, err)
	}
}

// taken is what a subscription took.
type taken struct {
	mu  sync.Mutex // guards all
	all []string
}

func (k *taken) take(p fetch.Pushed) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.Err != nil {
		k.all = append(k.all, p.Err.Error())
	}
	if p.JSON != nil {
		k.all = append(k.all, string(p.JSON))
	}
}

func (k *taken) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.all, " ; ")
}

func TestPushes(t *testing.T) {
	virtual(t, func(t *testing.T, s *natstest.Server, o fetch.Options) {
		t.Helper()
		c, log := client(t, o)
		var got taken
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		d := onNATS(t, s, "refresh: push, extract: .v")
		go func() { ended <- c.Subscribe(ctx, d, got.take) }()
		synctest.Wait()
		nc, _ := s.Client()
		publish := func(texts ...string) {
			for _, text := range texts {
				if err := nc.Publish("feed.x", []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			_ = nc.Flush()
			synctest.Wait()
		}
		publish(`{"v":1}`, `{"v": [2]}`, `{`, `{}`, `{"v":3}`)
		time.Sleep(time.Hour)
		publish(`{"v":4}`)
		nc.Close()
		want := "1 ; [2] ; source 'a': parse failed: invalid JSON: unexpected end of JSON input (line 1) ; source 'a': extract failed: extract expression produced no data ; 3 ; 4"
		if got.String() != want {
			t.Errorf("got %s, want %s", &got, want)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		if text := log.String(); strings.Contains(text, "level=WARN") || !strings.Contains(text, "msg=subscribed source=a") {
			t.Errorf("logged %s", text)
		}
	})
}

func TestASubscriptionIsMadeAgainForEver(t *testing.T) {
	natstest.Bubbles(t)
	synctest.Test(t, func(t *testing.T) {
		s := natstest.InMemory(t)
		var mu sync.Mutex
		var dialled []time.Duration
		begun := time.Now()
		c, log := client(t, fetch.Options{DialNATS: func(ctx context.Context, network, address string) (net.Conn, error) {
			mu.Lock()
			dialled = append(dialled, time.Since(begun))
			mu.Unlock()
			return s.Dial(ctx, network, address)
		}})
		s.Down()
		var got taken
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		d := onNATS(t, s, "refresh: push")
		go func() { ended <- c.Subscribe(ctx, d, got.take) }()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		mu.Lock()
		const want = "[0s 1s 3s 7s 15s 31s 1m1s 1m31s]"
		if text := fmt.Sprint(dialled); text != want {
			t.Errorf("dialled after %s, want %s", text, want)
		}
		dialled = nil
		mu.Unlock()

		s.Up()
		time.Sleep(time.Minute)
		nc, _ := s.Client()
		_ = nc.Publish("feed.x", []byte("1"))
		_ = nc.Flush()
		nc.Close()
		synctest.Wait()

		// A break: the first attempt comes after a second again.
		s.Down()
		s.Up()
		time.Sleep(time.Second)
		synctest.Wait()
		nc, _ = s.Client()
		_ = nc.Publish("feed.x", []byte("2"))
		_ = nc.Flush()
		nc.Close()
		synctest.Wait()
		if got.String() != "1 ; 2" {
			t.Errorf("got %s", &got)
		}
		s.Down()
		time.Sleep(100 * time.Millisecond)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		if text := log.String(); !strings.Contains(text, `level=WARN msg="the subscription failed and is tried again" source=a wait=30s`) {
			t.Errorf("logged %s", text)
		}
	})
}

func TestControlMessages(t *testing.T) {
	virtual(t, func(t *testing.T, s *natstest.Server, o fetch.Options) {
		t.Helper()
		c, _ := client(t, o)
		var got taken
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- c.Control(ctx, "nats://127.0.0.1:4222", "svc.control.resolve", func(p []byte) { got.take(fetch.Pushed{JSON: fmt.Appendf(nil, "%q", p), Values: 1}) })
		}()
		synctest.Wait()
		nc, _ := s.Client()
		for _, text := range []string{"a", "", ` {"source_id":"a"} `} {
			if err := nc.PublishRequest("svc.control.resolve", "reply", []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		_ = nc.Flush()
		synctest.Wait()
		nc.Close()
		cancel()
		if err := <-ended; err != nil || got.String() != `"a" ; "" ; " {\"source_id\":\"a\"} "` {
			t.Errorf("got %s, %v", &got, err)
		}
	})
}
