//go:build !no_nats

package fetch_test

import (
	"bytes"
	"context"
	"maps"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/internal/logtest"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
	"github.com/sluicehq/sluice/sources/fetch"
)

// sum adds up what a subscription hands over.
type sum struct {
	mu     sync.Mutex // guards all
	values []string
	good   int
	failed map[fetch.ErrorKind]int
}

func (s *sum) take(p fetch.Pushed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.JSON != nil {
		s.values = append(s.values, string(p.JSON))
	}
	s.good += p.Values
	for kind, n := range p.Failed {
		s.failed[kind] += n
	}
}

// stormed is a subscription whose taker waits until it may go on.
type stormed struct {
	*sum
	nc   *nats.Conn
	free chan struct{}
	end  func()
	log  *logtest.Buffer
}

// storm subscribes, has the taker wait in its first call, and hands the rest to the test.
func storm(t *testing.T, s *natstest.Server, o fetch.Options, keys string) *stormed {
	t.Helper()
	c, log := client(t, o)
	r := &stormed{sum: &sum{failed: map[fetch.ErrorKind]int{}}, free: make(chan struct{}), log: log}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	d := onNATS(t, s, "refresh: push, "+keys)
	go func() {
		ended <- c.Subscribe(ctx, d, func(p fetch.Pushed) { <-r.free; r.take(p) })
	}()
	synctest.Wait()
	r.nc, _ = s.Client()
	r.end = func() {
		r.nc.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	r.publish(t, `0`)
	return r
}

func (r *stormed) publish(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := r.nc.Publish("feed.x", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// many are n messages.
func many(n int, text func(i int) string) (all []string) {
	for i := range n {
		all = append(all, text(i))
	}
	return all
}

func number(i int) string { return strconv.Itoa(i + 1) }

func faulty(int) string { return "{" }

// Room is that for 1024 messages, or for 64 MiB.
func TestWhatComesFasterThanItIsRead(t *testing.T) {
	large := func(text string) string { return text + strings.Repeat(" ", 9<<20) }
	for _, tc := range []struct {
		name, keys string
		messages   []string // behind one with the value 0, in whose hands the reader is
		last       string
		good       int
		failed     map[fetch.ErrorKind]int
		read       int // values that are handed over at most
		passed     bool
	}{
		{"what has room is read in order", "", many(1024, number), "1024", 1025, nil, 1025, false},
		{"of values only the newest are read", "", many(20_000, number), "20000", 20_001, nil, 1025, true},
		{"no message makes way for one that is no value", "", append([]string{"1"}, many(5000, faulty)...), "1", 2, map[fetch.ErrorKind]int{fetch.Parse: 5000}, 2, false},
		{"the last value of a burst with faulty ones behind it", "", slices.Concat(many(2000, number), many(3000, faulty)), "2000", 2001, map[fetch.ErrorKind]int{fetch.Parse: 3000}, 1025, true},
		{"values that come with faulty ones before them", "", append(many(3000, faulty), "1"), "1", 1026, map[fetch.ErrorKind]int{fetch.Parse: 1976}, 2, true},
		{"of every kind", "extract: .v", append([]string{`{"v":1}`}, many(3000, func(i int) string { return []string{"{", "{}"}[i%2] })...), "1", 1, map[fetch.ErrorKind]int{fetch.Parse: 1500, fetch.ExtractFailed: 1501}, 1, false},
		{"large ones", "", many(9, func(i int) string { return large(number(i)) }), "9", 10, nil, 8, true},
		{"large ones with faulty ones behind them", "", append([]string{large("1")}, many(8, func(int) string { return large("{") })...), "1", 2, map[fetch.ErrorKind]int{fetch.Parse: 8}, 2, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			natstest.Bubbles(t)
			synctest.Test(t, func(t *testing.T) {
				s := natstest.InMemory(t, func(o *server.Options) { o.MaxPayload, o.MaxPending = 16<<20, 512<<20 })
				r := storm(t, s, fetch.Options{DialNATS: s.Dial}, tc.keys)
				r.publish(t, tc.messages...)
				close(r.free)
				synctest.Wait()
				r.end()
				if n := len(r.values); n == 0 || n > tc.read || r.values[n-1] != tc.last {
					t.Errorf("%d values are handed over, the last %.40q, want %d at most and %s", n, r.values[max(0, n-1):], tc.read, tc.last)
				}
				if !slices.IsSortedFunc(r.values, func(a, b string) int { return len(a) - len(b) }) {
					t.Error("an older value comes behind a newer one")
				}
				if r.good != tc.good || !maps.Equal(r.failed, tc.failed) {
					t.Errorf("%d values and %v count, want %d and %v", r.good, r.failed, tc.good, tc.failed)
				}
				if got := strings.Count(r.log.String(), "passed over"); (got > 0) != tc.passed || got > 2 {
					t.Errorf("%d lines tell of messages that are passed over: %s", got, r.log)
				}
			})
		})
	}
}

// With a receiver that holds 64 KiB.
func TestMessagesThatAreNeverReadCount(t *testing.T) {
	s := natstest.Start(t, nil)
	const all = 4000
	c, log := client(t, fetch.Options{})
	r := sum{failed: map[fetch.ErrorKind]int{}}
	ctx, cancel := context.WithCancel(t.Context())
	ended, came := make(chan error), make(chan struct{}, 1)
	d := onNATS(t, s, "refresh: push, timeout: 1ms, extract: 'last(range(1000000000))'")
	go func() {
		ended <- c.SubscribeWithin(ctx, d, 64<<10, func(p fetch.Pushed) {
			r.take(p)
			select {
			case came <- struct{}{}:
			default:
			}
		})
	}()
	nc, _ := s.Client()
	for !strings.Contains(log.String(), "msg=subscribed") {
		runtime.Gosched()
	}
	text := []byte(`"` + strings.Repeat("x", 4<<10) + `"`)
	for range all {
		if err := nc.Publish("feed.x", text); err != nil {
			t.Fatal(err)
		}
	}
	_ = nc.Flush()
	counted := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.good + r.failed[fetch.Timeout] + r.failed[fetch.ResourceLimit]
	}
	for counted() < all {
		<-came
	}
	nc.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if counted() != all || r.good != 0 || r.failed[fetch.ResourceLimit] == 0 || r.failed[fetch.Timeout] == 0 {
		t.Errorf("%d values and %v count, want %d in all, some of each kind", r.good, r.failed, all)
	}
}

// counted is a connection that counts the messages that come.
type counted struct {
	net.Conn
	mu   *sync.Mutex // guards last and came
	last []byte
	came *int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	const begin = "MSG feed.x "
	text := append(c.last, p[:n]...)
	*c.came += bytes.Count(text, []byte(begin))
	c.last = bytes.Clone(text[max(0, len(text)-len(begin)+1):])
	return n, err
}

// The newest of them is the value that counts, whatever became of the connection.
func TestMessagesThatHaveComeCountWhenTheConnectionBreaks(t *testing.T) {
	s := natstest.Start(t, nil)
	const faulty = 1500
	var mu sync.Mutex
	came := 0
	c, log := client(t, fetch.Options{DialNATS: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &counted{Conn: conn, mu: &mu, came: &came}, err
	}})
	r := sum{failed: map[fetch.ErrorKind]int{}}
	ctx, cancel := context.WithCancel(t.Context())
	ended, some := make(chan error), make(chan struct{}, 1)
	d := onNATS(t, s, "refresh: push, timeout: 60, extract: 'if . == 1 then . else last(range(5000)) | empty end'") // which takes a while
	go func() {
		ended <- c.Subscribe(ctx, d, func(p fetch.Pushed) {
			r.take(p)
			select {
			case some <- struct{}{}:
			default:
			}
		})
	}()
	nc, _ := s.Client()
	for !strings.Contains(log.String(), "msg=subscribed") {
		runtime.Gosched()
	}
	for i := range faulty + 1 {
		text := "0"
		if i == faulty {
			text = "1"
		}
		if err := nc.Publish("feed.x", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	_ = nc.Flush()
	nc.Close()
	there := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return came == faulty+1
	}
	for !there() {
		runtime.Gosched()
	}
	s.Down()
	count := func() (values, all int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.values), r.good + r.failed[fetch.ExtractFailed]
	}
	late := time.After(time.Minute)
	for {
		_, all := count()
		if all == faulty+1 {
			break
		}
		select {
		case <-some:
		case <-late:
			t.Errorf("%d messages count, want %d", all, faulty+1)
		}
		if t.Failed() {
			break
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if values, _ := count(); values != 1 || len(r.failed) != 1 {
		t.Errorf("%d values came, and %v failed, want the last message", values, r.failed)
	}
}
