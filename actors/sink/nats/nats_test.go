package nats_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsio "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/actors/sink/nats"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/dial"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

// message is the index-th of a delivery.
func message(delivery byte, index int, body string) graph.Message {
	return graph.Message{Envelope: &graph.Envelope{ID: graph.DeliveryID{15: delivery}}, Index: index, Body: []byte(body)}
}

// messages are so many of one delivery; the body of each is its number.
func messages(n int) (all []graph.Message) {
	for i := range n {
		all = append(all, message(1, i, fmt.Sprint(i)))
	}
	return all
}

func wantWrite(t *testing.T, transport *nats.Transport, all []graph.Message, confirmed int, text string) error {
	t.Helper()
	n, err := transport.Write(t.Context(), all)
	if n != confirmed || (err == nil) != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("got %d confirmed and %v, want %d and %q", n, err, confirmed, text)
	}
	return err
}

// wantWrittenAnew writes messages whose stream was deleted and is made again. A server that
// still clears the old one away refuses to make it; the sink tries again then.
func wantWrittenAnew(t *testing.T, transport *nats.Transport, all []graph.Message) {
	t.Helper()
	for range 1000 {
		n, err := transport.Write(t.Context(), all)
		if err == nil || n > 0 || !strings.Contains(err.Error(), "error creating store for stream") {
			if n != len(all) || err != nil {
				t.Errorf("got %d confirmed and %v, want all %d", n, err, len(all))
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the stream is never made again")
}

func isPermanent(err error) bool {
	var p interface{ Permanent() bool }
	return errors.As(err, &p) && p.Permanent()
}

func TestWhatIsStoredOfAMessage(t *testing.T) {
	s := natstest.Start(t, nil)
	transport := open(t, s, natsconn.Config{})
	defer transport.Close()
	placed := func(n int) graph.Message {
		m := message(2, n, fmt.Sprint("placed ", n))
		m.Position = graph.Position{Stream: "EVENTS", Sequence: 77, Time: 1}
		return m
	}
	headed := message(3, 0, "headed")
	headed.Address("", graph.Header{Name: "Kind", Value: "incident"}, graph.Header{Name: "Kind", Value: "two\r\nlines"}, graph.Header{Name: natsio.MsgIdHdr, Value: "theirs"})
	elsewhere := message(4, 0, "elsewhere")
	elsewhere.Address("incidents.high")
	wantWrite(t, transport, []graph.Message{message(1, 0, `{"a":1}`), message(1, 7, ""), placed(0), placed(1), headed, elsewhere}, 6, "")
	wantWrite(t, transport, []graph.Message{placed(0), placed(1)}, 2, "") // as after a restart

	id := "msg_" + strings.Repeat("0", 30)
	want := []string{
		`{"a":1} map[Nats-Msg-Id:[` + id + `01-0]]`,
		" map[Nats-Msg-Id:[" + id + "01-7]]",
		"placed 0 map[Nats-Msg-Id:[EVENTS-77-nats-0]]",
		"placed 1 map[Nats-Msg-Id:[EVENTS-77-nats-1]]",
		"headed map[Kind:[incident two  lines] Nats-Msg-Id:[" + id + "03-0]]",
	}
	var got []string
	for _, m := range s.Stored("sluice-results") {
		got = append(got, fmt.Sprintf("%s %v", m.Data, m.Header))
	}
	if !slices.Equal(got, want) {
		t.Errorf("stored:\n got %q\nwant %q", got, want)
	}
	if other := natstest.Bodies(s.Stored("sluice-incidents-high")); !slices.Equal(other, []string{"elsewhere"}) {
		t.Errorf("the stream of the other subject holds %q, want the message that named it", other)
	}
}

// singly makes the stream of the sink, so that it takes no batches.
func singly(t *testing.T, s *natstest.Server) { t.Helper(); makeStream(t, s, false) }

func makeStream(t *testing.T, s *natstest.Server, batches bool) {
	t.Helper()
	nc, js := s.Client()
	defer nc.Close()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "sluice-results", Subjects: []string{"results"}, AllowBatchPublish: batches}); err != nil {
		t.Fatal(err)
	}
}

// responder acknowledges in the place of a stream, as answer says for each message and
// for how many times it has come.
func responder(t *testing.T, s *natstest.Server, answer func(body string, times int, ack func(text string))) (seen func() []string) {
	t.Helper()
	return replier(t, s, func(m *natsio.Msg, times int) {
		answer(string(m.Data), times, func(text string) { _ = m.Respond([]byte(text)) })
	})
}

// replier is a responder that is shown the messages.
func replier(t *testing.T, s *natstest.Server, answer func(m *natsio.Msg, times int)) (seen func() []string) {
	t.Helper()
	nc, js := s.Client()
	t.Cleanup(nc.Close)
	if err := js.DeleteStream(t.Context(), "sluice-results"); err != nil {
		t.Fatal(err)
	}
	var all []string
	ask := make(chan chan []string)
	come := make(chan *natsio.Msg, 8192) // more than any case publishes: the client drops what does not fit
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	if _, err := nc.ChanSubscribe("results", come); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := nc.FlushWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	go func() {
		times := make(map[string]int)
		for {
			select {
			case m := <-come:
				body := string(m.Data)
				times[body]++
				all = append(all, body)
				answer(m, times[body])
			case to := <-ask:
				to <- slices.Clone(all)
				all = nil
			case <-done:
				return
			}
		}
	}()
	return func() []string {
		synctest.Wait()
		to := make(chan []string)
		ask <- to
		return <-to
	}
}

const (
	yes  = `{"stream":"sluice-results","seq":1}`
	slow = `{ "stream": "sluice-results", "seq": 2, "duplicate": true }`
	full = `{"error":{"code":503,"err_code":10077,"description":"maximum messages exceeded"},"stream":"sluice-results","seq":0}`
)

// exchange is a transport with a responder.
type exchange struct {
	t         *testing.T
	transport *nats.Transport
	seen      func() []string
}

func (c *exchange) write(all []graph.Message, confirmed int, text string) {
	c.t.Helper()
	_ = wantWrite(c.t, c.transport, all, confirmed, text)
}

// want are the bodies published since it was last asked.
func (c *exchange) want(want ...string) {
	c.t.Helper()
	if got := c.seen(); !slices.Equal(got, want) {
		c.t.Errorf("published %q, want %q", got, want)
	}
}

func TestAcknowledgementsCountWheneverTheyCome(t *testing.T) {
	natstest.Bubbles(t)
	virtual := func(name string, answer func(body string, times int, ack func(string)), run func(c *exchange)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := natstest.InMemory(t)
				singly(t, s)
				transport := open(t, s, natsconn.Config{})
				defer transport.Close()
				run(&exchange{t, transport, responder(t, s, answer)})
			})
		})
	}
	all := messages(5)
	odd := func(body string, times int, ack func(string)) {
		if times > 1 || body == "0" || body == "2" || body == "4" {
			ack(yes)
		}
	}
	virtual("what was acknowledged out of order is not published again", odd, func(c *exchange) {
		c.write(all, 1, "no acknowledgement from nats://127.0.0.1:4222 within 5s")
		c.want("0", "1", "2", "3", "4")
		c.write(all[1:], 4, "")
		c.want("1", "3")
	})
	virtual("nor when further messages come with it", odd, func(c *exchange) {
		c.write(all[:3], 1, "no acknowledgement")
		c.want("0", "1", "2")
		c.write(all[1:], 2, "no acknowledgement") // 3 comes for the first time
		c.want("1", "3", "4")
	})
	virtual("nor when fewer come first", odd, func(c *exchange) {
		c.write(all, 1, "no acknowledgement")
		c.write(all[1:2], 1, "")
		c.write(all[2:], 3, "")
		c.want("0", "1", "2", "3", "4", "1", "3")
	})
	virtual("nor when the one before was given up", odd, func(c *exchange) {
		c.write(all, 1, "no acknowledgement")
		c.transport.Abandon()
		c.write(all[2:], 3, "")
		c.want("0", "1", "2", "3", "4", "3")
	})
	virtual("what was given up as a whole counts for nothing that follows", odd, func(c *exchange) {
		c.write(all, 1, "no acknowledgement")
		c.transport.Abandon()
		next := []graph.Message{message(2, 1, "0"), message(2, 2, "2")}
		c.write(next, 2, "")
		c.want("0", "1", "2", "3", "4", "0", "2")
	})
	virtual("a late acknowledgement spares the repetition", func(_ string, _ int, ack func(string)) {
		time.AfterFunc(7*time.Second, func() { ack(yes) })
	}, func(c *exchange) {
		c.write(all, 0, "no acknowledgement")
		time.Sleep(3 * time.Second)
		c.write(all, 5, "")
		c.want("0", "1", "2", "3", "4")
	})
	virtual("one that comes during the repetition counts too", func(_ string, times int, ack func(string)) {
		if times == 1 {
			time.AfterFunc(7*time.Second, func() { ack(slow) })
		}
	}, func(c *exchange) {
		c.write(all, 0, "no acknowledgement")
		c.write(all, 5, "")
		c.want("0", "1", "2", "3", "4", "0", "1", "2", "3", "4")
	})
	virtual("late ones of messages that are offered later do not end the wait for others", func(body string, times int, ack func(string)) {
		switch {
		case body != "0":
			time.AfterFunc(7*time.Second, func() { ack(yes) })
		case times == 2:
			time.AfterFunc(3*time.Second, func() { ack(yes) })
		}
	}, func(c *exchange) {
		c.write(all, 0, "no acknowledgement")
		c.write(all[:1], 1, "")
		c.write(all[1:], 4, "")
		c.want("0", "1", "2", "3", "4", "0")
	})
	virtual("a refusal is tried again, alone", func(body string, times int, ack func(string)) {
		if body == "1" && times == 1 {
			ack(full)
		} else {
			ack(yes)
		}
	}, func(c *exchange) {
		err := wantWrite(c.t, c.transport, all, 1, "stream sluice-results: maximum messages exceeded (10077)")
		if isPermanent(err) {
			c.t.Error("the refusal is permanent, want it tried again")
		}
		c.write(all[1:], 4, "")
		c.want("0", "1", "2", "3", "4", "1")
	})
	virtual("an answer that is none is no acknowledgement", func(_ string, times int, ack func(string)) {
		switch times {
		case 1:
			ack("hello")
		case 2:
			ack(`{"seq":1}`)
		default:
			ack(yes)
		}
	}, func(c *exchange) {
		c.write(all, 0, "an acknowledgement that is none")
		c.write(all, 0, "an acknowledgement without a stream")
		c.write(all, 5, "")
	})
	virtual("a batch beyond the window is published in pieces", func(_ string, _ int, ack func(string)) { ack(yes) }, func(c *exchange) {
		many := messages(5000)
		c.write(many, 5000, "")
		if got := c.seen(); len(got) != 5000 || got[4999] != "4999" {
			c.t.Errorf("%d published, want 5000 in order", len(got))
		}
	})
	virtual("those of many messages come in any order", func(body string, _ int, ack func(string)) {
		n, _ := strconv.Atoi(body)
		time.AfterFunc(time.Duration(n*7919%101)*time.Millisecond, func() { ack(yes) })
	}, func(c *exchange) {
		c.write(messages(5000), 5000, "")
		if got := c.seen(); len(got) != 5000 {
			c.t.Errorf("%d published, want 5000", len(got))
		}
	})
	virtual("of many messages only the one without is published again", func(body string, times int, ack func(string)) {
		if times > 1 || body != "255" {
			ack(yes)
		}
	}, func(c *exchange) {
		many := messages(3000)
		c.write(many, 255, "no acknowledgement")
		c.write(many[255:], 2745, "")
		if got := c.seen(); len(got) != 3001 || got[3000] != "255" {
			c.t.Errorf("%d published, the last %q, want 3000 and one of them again", len(got), got[len(got)-1])
		}
	})
}

func TestAWriteEndsWithItsContext(t *testing.T) {
	natstest.Bubbles(t)
	synctest.Test(t, func(t *testing.T) {
		s := natstest.InMemory(t)
		singly(t, s)
		transport := open(t, s, natsconn.Config{})
		defer transport.Close()
		responder(t, s, func(string, int, func(string)) {})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		n, err := transport.Write(ctx, messages(3))
		if n != 0 || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 1250*time.Millisecond {
			t.Errorf("got %d and %v after %s, want the end of the context and a moment after a second", n, err, time.Since(begun))
		}
	})
}

// What a stream has stored when the context ends is confirmed if the acknowledgement is on
// its way, and nothing more is published.
func TestAcknowledgementsOnTheirWayCountAtTheEnd(t *testing.T) {
	const end = time.Second
	for _, tc := range []struct {
		name    string
		late    func(body string) time.Duration // of the acknowledgement, behind the end; below zero for never
		n       int
		want    int
		behind  []int // the first unconfirmed one, which are confirmed
		takes   time.Duration
		another int // how many were published
	}{
		{"all come in time", func(string) time.Duration { return 100 * time.Millisecond }, 3, 3, nil, 100 * time.Millisecond, 3},
		{"one comes too late", func(body string) time.Duration { return map[string]time.Duration{"2": time.Second}[body] }, 3, 2, nil, 250 * time.Millisecond, 3},
		{"the first never comes", func(body string) time.Duration {
			if body == "0" {
				return -1
			}
			return 50 * time.Millisecond
		}, 3, 0, []int{1, 2}, 250 * time.Millisecond, 3},
		{"what is beyond the window is not published any more", func(string) time.Duration { return 50 * time.Millisecond }, 3000, 1024, nil, 50 * time.Millisecond, 1024},
	} {
		t.Run(tc.name, func(t *testing.T) {
			natstest.Bubbles(t)
			synctest.Test(t, func(t *testing.T) {
				s := natstest.InMemory(t)
				singly(t, s)
				transport := open(t, s, natsconn.Config{})
				defer transport.Close()
				ctx, cancel := context.WithTimeout(t.Context(), end)
				defer cancel()
				begun := time.Now()
				seen := responder(t, s, func(body string, _ int, ack func(string)) {
					if d := tc.late(body); d >= 0 {
						time.AfterFunc(time.Until(begun.Add(end+d)), func() { ack(`{"stream":"sluice-results","seq":1}`) })
					}
				})
				n, err := transport.Write(ctx, messages(tc.n))
				if took := time.Since(begun) - end; n != tc.want || (err == nil) != (n == tc.n) || took != tc.takes {
					t.Errorf("%d are confirmed with %v %s behind the end, want %d after %s", n, err, took, tc.want, tc.takes)
				}
				var some interface{ Confirmed(i int) bool }
				for i := range 3 {
					if got := errors.As(err, &some) && some.Confirmed(i); got != slices.Contains(tc.behind, i) {
						t.Errorf("message %d behind the first: confirmed %t", i, got)
					}
				}
				if got := len(seen()); got != tc.another {
					t.Errorf("%d were published, want %d", got, tc.another)
				}
			})
		})
	}
}

// latest makes connections, and knows the last one.
func latest(s *natstest.Server) (dial.Dialer, func() *natstest.Deaf) {
	d := s.Dialer(natsconn.Config{})
	var conn atomic.Pointer[natstest.Deaf]
	d.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := s.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		conn.Store(natstest.NewDeaf(c))
		return conn.Load(), nil
	}
	return d, conn.Load
}

func TestAConnectionThatBreaksInTheMiddleOfAList(t *testing.T) {
	natstest.Bubbles(t)
	synctest.Test(t, func(t *testing.T) {
		s := natstest.InMemory(t)
		singly(t, s)
		d, conn := latest(s)
		transport, err := nats.Open(nats.Options{Dialer: d, Target: s.Target("results"), Label: "nats", Name: "sluice nats"})
		if err != nil {
			t.Fatal(err)
		}
		defer transport.Close()
		seen := responder(t, s, func(body string, times int, ack func(string)) {
			if body == "0" || times > 1 {
				ack(yes)
			} else if body == "2" {
				time.AfterFunc(time.Second, func() { _ = conn().Close() })
			}
		})
		wantWrite(t, transport, messages(3), 1, "the connection broke")
		wantWrite(t, transport, messages(3)[1:], 2, "")
		if got := seen(); !slices.Equal(got, []string{"0", "1", "2", "1", "2"}) {
			t.Errorf("published %q, want what was not confirmed again and no more", got)
		}
	})
}

func TestAWriteToAServerThatDoesNotReadEndsWithItsContext(t *testing.T) {
	s := natstest.Start(t, nil)
	singly(t, s)
	d, conn := latest(s)
	transport, err := nats.Open(nats.Options{Dialer: d, Target: s.Target("results"), Label: "nats", Name: "sluice nats"})
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Close()
	conn().Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if n, err := transport.Write(ctx, messages(5000)); n != 0 || err == nil {
		t.Errorf("got %d and %v, want an error", n, err)
	}
	rest := messages(2)
	for err = ctx.Err(); err != nil; { // over a new connection, once the break of the old one is noticed
		var n int
		n, err = transport.Write(t.Context(), rest)
		rest = rest[n:]
	}
	if got := natstest.Bodies(s.Stored("sluice-results")); !slices.Equal(got, []string{"0", "1"}) {
		t.Errorf("stored %q, want both once", got)
	}
}

func TestMessagesThatAreTooLargeCostNothingElse(t *testing.T) {
	big := message(1, 1, strings.Repeat("x", 5000))
	for _, tc := range []struct {
		name   string
		change func(o *server.Options)
		stream *jetstream.StreamConfig
		want   string
	}{
		{"for the server", func(o *server.Options) { o.MaxPayload = 4096 }, nil, "5000 bytes are more than the 4096 that nats://127.0.0.1:"},
		{"for the stream", nil, &jetstream.StreamConfig{Name: "R", Subjects: []string{"results"}, MaxMsgSize: 4096}, "stream R: message size exceeds maximum allowed (max_msg_size)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := natstest.Start(t, tc.change)
			stream := "sluice-results"
			if tc.stream != nil {
				stream = tc.stream.Name
				nc, js := s.Client()
				defer nc.Close()
				if _, err := js.CreateStream(t.Context(), *tc.stream); err != nil {
					t.Fatal(err)
				}
			} else {
				singly(t, s)
			}
			transport := open(t, s, natsconn.Config{})
			defer transport.Close()
			wantWrite(t, transport, []graph.Message{message(2, 0, "c"), big}, 1, tc.want) // at the end
			all := []graph.Message{message(1, 0, "a"), big, message(1, 2, "b")}
			if err := wantWrite(t, transport, all, 1, tc.want); !isPermanent(err) {
				t.Errorf("%v is tried again, want it permanent", err)
			}
			transport.Abandon()
			wantWrite(t, transport, all[2:], 1, "")
			if got := natstest.Bodies(s.Stored(stream)); !slices.Equal(got, []string{"c", "a", "b"}) {
				t.Errorf("stored %q, want c, a and b once", got)
			}
		})
	}
}

func TestSubjectsOfMessages(t *testing.T) {
	s := natstest.Start(t, nil)
	transport := open(t, s, natsconn.Config{})
	defer transport.Close()
	to := func(subject string) []graph.Message {
		m := message(1, 0, "x")
		m.Address(subject)
		return []graph.Message{m}
	}
	if err := wantWrite(t, transport, to("incidents.*"), 0, "must be concrete"); !isPermanent(err) {
		t.Error("a subject with a wildcard is tried again")
	}
	nc, js := s.Client()
	defer nc.Close()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "sluice-a-b", Subjects: []string{"other"}}); err != nil {
		t.Fatal(err)
	}
	if err := wantWrite(t, transport, to("a.b"), 0, "stream sluice-a-b exists and takes 'other', not 'a.b'"); isPermanent(err) {
		t.Error("a stream that somebody may mend is not tried again")
	}
	if err := js.DeleteStream(t.Context(), "sluice-a-b"); err != nil {
		t.Fatal(err)
	}
	wantWrittenAnew(t, transport, to("a.b"))
}

func TestAStreamThatIsGoneIsLookedForAgain(t *testing.T) {
	s := natstest.Start(t, nil)
	singly(t, s)
	transport := open(t, s, natsconn.Config{})
	defer transport.Close()
	nc, js := s.Client()
	defer nc.Close()
	if err := js.DeleteStream(t.Context(), "sluice-results"); err != nil {
		t.Fatal(err)
	}
	wantWrite(t, transport, messages(2), 0, "no stream took the message")
	wantWrittenAnew(t, transport, messages(2))
	if got := natstest.Bodies(natstest.Messages(t, js, "sluice-results")); !slices.Equal(got, []string{"0", "1"}) {
		t.Errorf("stored %q, want both", got)
	}
}

func TestWhatKeepsASinkFromStarting(t *testing.T) {
	user := func(publish, subscribe *server.SubjectPermission) func(o *server.Options) {
		return func(o *server.Options) {
			o.Users = []*server.User{{Username: "u", Password: "p", Permissions: &server.Permissions{Publish: publish, Subscribe: subscribe}}}
		}
	}
	for _, tc := range []struct {
		name   string
		change func(o *server.Options)
		before []jetstream.StreamConfig
		cfg    natsconn.Config
		down   bool
		want   string // empty for a start
		stream string // that takes the messages
	}{
		{name: "nothing: the stream is made", stream: "sluice-results"},
		{name: "nothing: a stream takes the subject", before: []jetstream.StreamConfig{{Name: "ALL", Subjects: []string{"*"}}}, stream: "ALL"},
		{name: "a server that is away", down: true, want: "connect: connection refused"},
		{name: "a server without JetStream", change: func(o *server.Options) { o.JetStream = false }, want: "stream for subject 'results' on nats://127.0.0.1:PORT: JetStream is not enabled there"},
		{name: "a stream of its name with other subjects", before: []jetstream.StreamConfig{{Name: "sluice-results", Subjects: []string{"other", "more"}}}, want: "stream sluice-results exists and takes 'other', 'more', not 'results'"},
		{name: "a stream without acknowledgements", before: []jetstream.StreamConfig{{Name: "QUIET", Subjects: []string{"results"}, NoAck: true}}, want: "stream QUIET does not acknowledge what it stores (no_ack)"},
		{
			name: "a user who may not ask for streams", change: user(&server.SubjectPermission{Allow: []string{"results"}}, nil),
			cfg: natsconn.Config{User: "u", Password: "p"}, want: `Permissions Violation for Publish to "$JS.API.STREAM.LIST" (the user needs to publish to $JS.API.>`,
		},
		{
			name: "a user who may not make streams", change: user(&server.SubjectPermission{Deny: []string{"$JS.API.STREAM.CREATE.>"}}, nil),
			cfg: natsconn.Config{User: "u", Password: "p"}, want: `Permissions Violation for Publish to "$JS.API.STREAM.CREATE.sluice-results"`,
		},
		{
			name: "a user who gets no answers", change: user(nil, &server.SubjectPermission{Deny: []string{"_INBOX.>"}}),
			cfg: natsconn.Config{User: "u", Password: "p"}, want: `Permissions Violation for Subscription to "_INBOX.`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := natstest.Start(t, tc.change)
			if tc.before != nil {
				nc, js := s.Client()
				defer nc.Close()
				for _, cfg := range tc.before {
					if _, err := js.CreateStream(t.Context(), cfg); err != nil {
						t.Fatal(err)
					}
				}
			}
			target := s.Target("results")
			if tc.down {
				s.Down()
			}
			transport, err := nats.Open(nats.Options{Dialer: s.Dialer(tc.cfg), Target: target, Label: "nats", Name: "sluice nats"})
			if tc.want != "" {
				port := target[len("127.0.0.1:"):strings.Index(target, "/")]
				if want := strings.ReplaceAll(tc.want, "PORT", port); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer transport.Close()
			wantWrite(t, transport, messages(1), 1, "")
			if got := s.Stored(tc.stream); len(got) != 1 {
				t.Errorf("%d messages in %s, want 1", len(got), tc.stream)
			}
		})
	}
}

func TestAUserWhoMayNotPublishIsToldAtOnce(t *testing.T) {
	s := natstest.Start(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "u", Password: "p", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"results"}}}},
		}
	})
	transport := open(t, s, natsconn.Config{User: "u", Password: "p"})
	defer transport.Close()
	wantWrite(t, transport, messages(1), 0, `Permissions Violation for Publish to "results"`)
}

func TestAKilledServerLosesNothingAndStoresNothingTwice(t *testing.T) {
	for name, batches := range map[string]bool{"one by one": false, "in batches": true} {
		t.Run(name, func(t *testing.T) { killed(t, batches) })
	}
}

func killed(t *testing.T, batches bool) {
	t.Helper()
	p := natstest.StartProcess(t)
	nc, err := natsio.Connect("nats://"+p.Addr, natstest.Patient)
	if err != nil {
		t.Fatal(err)
	}
	js, err := natstest.JetStream(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "sluice-results", Subjects: []string{"results"}, AllowBatchPublish: batches}); err != nil {
		t.Fatal(err)
	}
	nc.Close()
	s := natstest.Start(t, nil) // lends its dialer
	d := s.Dialer(natsconn.Config{})
	d.Dial = nil
	transport, err := nats.Open(nats.Options{Dialer: d, Target: p.Addr + "/results", Label: "nats", Name: "sluice nats"})
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Close()
	const total, batch, kills = 3000, 50, 4
	all := messages(total)
	for done := 0; done < total; {
		end := min(total, done+batch)
		if done%(total/kills) == batch*3 { // in the middle of a batch
			killed := make(chan struct{})
			go func() {
				defer close(killed)
				p.Kill()
				p.Up()
			}()
			for done < end {
				n, err := transport.Write(t.Context(), all[done:end])
				done += n
				if err == nil {
					break
				}
			}
			<-killed
		}
		for done < end {
			n, _ := transport.Write(t.Context(), all[done:end])
			done += n
		}
	}
	if nc, err = natsio.Connect("nats://"+p.Addr, natstest.Patient); err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if js, err = natstest.JetStream(nc); err != nil {
		t.Fatal(err)
	}
	times := make(map[string]int)
	for _, body := range natstest.Bodies(natstest.Messages(t, js, "sluice-results")) {
		times[body]++
	}
	for i := range all {
		if n := times[string(all[i].Body)]; n != 1 {
			t.Errorf("message %d is stored %d times, want once", i, n)
		}
	}
}
