package nats_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	natsio "github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/actors/sink/nats"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

var batchName = regexp.MustCompile(`"batch":"[^"]*"`)

func TestAStreamAcknowledgesABatchOnce(t *testing.T) {
	s := natstest.Start(t, nil)
	transport := openForBatches(t, s)
	defer transport.Close()
	nc, _ := s.Client()
	defer nc.Close()
	answers, err := nc.SubscribeSync("_INBOX.*.b.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	placed := func(n int) (all []graph.Message) {
		for i := range n {
			m := message(9, i, fmt.Sprint("placed ", i))
			m.Position = graph.Position{Stream: "EVENTS", Sequence: 77, Time: 1}
			all = append(all, m)
		}
		return all
	}
	var want []string
	for _, tc := range []struct {
		name    string
		batch   []graph.Message
		answers []string // of the server, without the name of the batch
		stored  int      // of the batch
	}{
		{"two messages", messages(2), []string{`{"type":"ack","seq":0,"msgs":500}`, `{"stream":"sluice-results","seq":2,"batch":"","count":2}`}, 2},
		{"more than the server takes without a word", messages(1024)[2:], []string{`{"type":"ack","seq":0,"msgs":500}`, `{"type":"ack","seq":500,"msgs":500}`, `{"type":"ack","seq":1000,"msgs":500}`, `{"stream":"sluice-results","seq":1024,"batch":"","count":1022}`}, 1022},
		{"a delivery", placed(2), []string{`{"type":"ack","seq":0,"msgs":500}`, `{"stream":"sluice-results","seq":1026,"batch":"","count":2}`}, 2},
		{"the same again, as after a restart", placed(2), []string{`{"type":"ack","seq":0,"msgs":500}`, `{"stream":"sluice-results","seq":0,"batch":"","count":2}`}, 0},
		{"the same again, and one more", placed(3), []string{`{"type":"ack","seq":0,"msgs":500}`, `{"stream":"sluice-results","seq":1027,"batch":"","count":3}`}, 1},
	} {
		wantWrite(t, transport, tc.batch, len(tc.batch), "")
		for _, m := range tc.batch[len(tc.batch)-tc.stored:] {
			want = append(want, string(m.Body))
		}
		for i, want := range tc.answers {
			m, err := answers.NextMsg(5 * time.Second)
			if err != nil {
				t.Fatalf("%s: answer %d: %v", tc.name, i, err)
			}
			if got := batchName.ReplaceAllString(string(m.Data), `"batch":""`); got != want {
				t.Errorf("%s: answer %d is %s, want %s", tc.name, i, got, want)
			}
		}
		if n, _, _ := answers.Pending(); n != 0 {
			t.Errorf("%s: %d answers too many", tc.name, n)
		}
	}
	if got := natstest.Bodies(s.Stored("sluice-results")); !slices.Equal(got, want) {
		t.Errorf("stored %d messages, want %d in order and once", len(got), len(want))
	}
}

// last reports whether a message ends its batch.
func last(m *natsio.Msg) bool { return strings.HasSuffix(m.Reply, ".2.$FI") }

// whole acknowledges a batch of n messages.
func whole(n int) string {
	return fmt.Sprintf(`{"stream":"sluice-results","seq":9,"batch":"x","count":%d}`, n)
}

func TestOnlyTheAcknowledgementOfAWholeBatchCounts(t *testing.T) {
	natstest.Bubbles(t)
	numbers := []string{"0", "1", "2"}
	for _, tc := range []struct {
		name   string
		answer func(m *natsio.Msg) string // to a message of a batch; "" for none
		fails  string                     // the first attempt
		want   []string                   // what is published of three messages, and of three others
	}{
		{"the whole batch", func(m *natsio.Msg) string {
			if last(m) {
				return whole(3)
			}
			return ""
		}, "", slices.Concat(numbers, numbers)},
		{"how far it is, and the whole batch", func(m *natsio.Msg) string {
			if last(m) {
				return whole(3)
			}
			return `{"type":"ack","seq":1,"msgs":1}`
		}, "", slices.Concat(numbers, numbers)},
		{"a part of it", func(m *natsio.Msg) string {
			if last(m) {
				return whole(2)
			}
			return ""
		}, "", slices.Concat(numbers, numbers, numbers, numbers)},
		{"a message is missing", func(m *natsio.Msg) string {
			if last(m) {
				return `{"type":"gap","last_seq":2,"seq":3}`
			}
			return ""
		}, "", slices.Concat(numbers, numbers, numbers, numbers)},
		{"a message is refused", func(m *natsio.Msg) string {
			switch {
			case last(m):
				return whole(3)
			case string(m.Data) == "1":
				return `{"type":"err","seq":2,"error":{"code":400,"err_code":10054,"description":"message size exceeds maximum allowed"}}`
			}
			return ""
		}, "", slices.Concat(numbers, numbers, numbers, numbers)},
		{"it takes no batches after all", func(*natsio.Msg) string {
			return `{"error":{"code":400,"err_code":10205,"description":"batch publish is disabled"},"stream":"sluice-results","seq":0}`
		}, "", slices.Concat(numbers, numbers, numbers)},
		{"something else", func(m *natsio.Msg) string {
			if last(m) {
				return "hello"
			}
			return ""
		}, "", slices.Concat(numbers, numbers, numbers, numbers)},
		{"nothing", func(*natsio.Msg) string { return "" }, "no acknowledgement from nats://127.0.0.1:4222 within 5s", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := natstest.InMemory(t)
				transport := openForBatches(t, s)
				defer transport.Close()
				seen := replier(t, s, func(m *natsio.Msg, _ int) {
					text := yes
					if strings.HasSuffix(m.Reply, ".$FI") {
						text = tc.answer(m)
					}
					if text != "" {
						_ = m.Respond([]byte(text))
					}
				})
				all := []graph.Message{message(1, 0, "0"), message(1, 1, "1"), message(1, 2, "2")}
				if tc.fails != "" {
					wantWrite(t, transport, all, 0, tc.fails)
					wantWrite(t, transport, all, 3, "") // one by one
					if got := seen(); !slices.Equal(got, slices.Concat(numbers, numbers)) {
						t.Errorf("published %q, want each twice", got)
					}
					return
				}
				wantWrite(t, transport, all, 3, "")
				next := []graph.Message{message(2, 0, "0"), message(2, 1, "1"), message(2, 2, "2")}
				wantWrite(t, transport, next, 3, "")
				if got := seen(); !slices.Equal(got, tc.want) {
					t.Errorf("published %q, want %q", got, tc.want)
				}
			})
		})
	}
}

func TestMessagesOutOfTheOrdinaryGoInNoBatch(t *testing.T) {
	headed, elsewhere := message(1, 1, "headed"), message(1, 1, "elsewhere")
	headed.Address("", graph.Header{Name: "Kind", Value: "incident"})
	elsewhere.Address("incidents.high")
	for name, all := range map[string][]graph.Message{
		"one alone":                    messages(1),
		"one with a header":            {message(1, 0, "0"), headed},
		"one with another subject":     {message(1, 0, "0"), elsewhere},
		"one close to the limit":       {message(1, 0, "0"), message(1, 1, strings.Repeat("x", 1<<20-200))},
		"none: two that go in batches": messages(2),
	} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Start(t, nil)
			transport := openForBatches(t, s)
			defer transport.Close()
			nc, _ := s.Client()
			defer nc.Close()
			published, err := nc.SubscribeSync("results")
			if err != nil {
				t.Fatal(err)
			}
			if err := nc.Flush(); err != nil {
				t.Fatal(err)
			}
			wantWrite(t, transport, all, len(all), "")
			m, err := published.NextMsg(5 * time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.HasSuffix(m.Reply, ".$FI"), strings.HasPrefix(name, "none"); got != want {
				t.Errorf("the reply subject is %s: in a batch is %t, want %t", m.Reply, got, want)
			}
		})
	}
}

func TestAStreamThatIsGoneIsMadeAgainForABatch(t *testing.T) {
	s := natstest.Start(t, nil)
	transport := openForBatches(t, s)
	defer transport.Close()
	nc, js := s.Client()
	defer nc.Close()
	if err := js.DeleteStream(t.Context(), "sluice-results"); err != nil {
		t.Fatal(err)
	}
	wantWrittenAnew(t, transport, messages(2))
	if got := natstest.Bodies(natstest.Messages(t, js, "sluice-results")); !slices.Equal(got, []string{"0", "1"}) {
		t.Errorf("stored %q, want both", got)
	}
}

// The acknowledgement of a batch counts a moment behind the end of the context, and nothing
// more is published.
func TestABatchOnItsWayCountsAtTheEnd(t *testing.T) {
	const end = time.Second
	for _, tc := range []struct {
		name   string
		n      int
		behind time.Duration // the end, the acknowledgement comes
		count  int           // of messages that it is for
		want   int
		takes  time.Duration
	}{
		{"in time", 3, 100 * time.Millisecond, 3, 3, 100 * time.Millisecond},
		{"too late", 3, time.Second, 3, 0, 250 * time.Millisecond},
		{"of a part", 3, 100 * time.Millisecond, 2, 0, 100 * time.Millisecond},
		{"of the first of several", 3000, 100 * time.Millisecond, 1024, 1024, 100 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			natstest.Bubbles(t)
			synctest.Test(t, func(t *testing.T) {
				s := natstest.InMemory(t)
				transport := openForBatches(t, s)
				defer transport.Close()
				ctx, cancel := context.WithTimeout(t.Context(), end)
				defer cancel()
				begun := time.Now()
				seen := replier(t, s, func(m *natsio.Msg, _ int) {
					if last(m) {
						time.AfterFunc(time.Until(begun.Add(end+tc.behind)), func() { _ = m.Respond([]byte(whole(tc.count))) })
					}
				})
				n, err := transport.Write(ctx, messages(tc.n))
				if took := time.Since(begun) - end; n != tc.want || (err == nil) != (n == tc.n) || took != tc.takes {
					t.Errorf("%d are confirmed with %v %s behind the end, want %d after %s", n, err, took, tc.want, tc.takes)
				}
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, want the end of the context", err)
				}
				if got := len(seen()); got != min(tc.n, 1024) {
					t.Errorf("%d were published, want one batch", got)
				}
			})
		})
	}
}

// inBatches makes the stream of the sink, so that it takes batches.
func inBatches(t *testing.T, s *natstest.Server) { t.Helper(); makeStream(t, s, true) }

// openForBatches is open for a stream that takes batches.
func openForBatches(t *testing.T, s *natstest.Server) *nats.Transport {
	t.Helper()
	inBatches(t, s)
	return open(t, s, natsconn.Config{})
}
