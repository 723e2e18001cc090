package nats_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

// elsewhere is a message to a subject of its own.
func elsewhere(index int, subject string) graph.Message {
	m := message(1, index, fmt.Sprint(index))
	m.Address(subject)
	return m
}

// A message that may not be published costs no other of the same attempt, wherever it stands.
func TestASubjectThatIsNotAllowedCostsNothingElse(t *testing.T) {
	const many = 1500 // more than are on their way at once
	for _, tc := range []struct {
		name   string
		denied []int
	}{
		{"the first", []int{0}},
		{"one in the middle", []int{700}},
		{"the last", []int{many - 1}},
		{"several of them", []int{3, 4, 900, 1400}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := natstest.Start(t, func(o *server.Options) {
				o.Users = []*server.User{
					{Username: "admin", Password: "p"},
					{Username: "u", Password: "p", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"incidents.high"}}}},
				}
				o.NoAuthUser = "admin"
			})
			singly(t, s)
			nc, js := s.Client()
			defer nc.Close()
			if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "INCIDENTS", Subjects: []string{"incidents.*"}}); err != nil {
				t.Fatal(err)
			}
			transport := open(t, s, natsconn.Config{User: "u", Password: "p"})
			defer transport.Close()
			all := messages(many)
			for _, i := range tc.denied {
				all[i] = elsewhere(i, "incidents.high")
			}
			first := tc.denied[0]
			begun := time.Now()
			err := wantWrite(t, transport, all, first, `Permissions Violation for Publish to "incidents.high"`)
			if took := time.Since(begun); took > 4*time.Second {
				t.Errorf("it takes %s to hear that, as if nobody had answered", took)
			}
			var some interface{ Confirmed(i int) bool }
			if first < many-1 && !errors.As(err, &some) {
				t.Fatalf("%v does not tell what is stored", err)
			}
			for i := first; i < many-1; i++ {
				if got, want := some.Confirmed(i-first), !slices.Contains(tc.denied, i); got != want {
					t.Fatalf("message %d is confirmed: %t, want %t", i, got, want)
				}
			}
			if got := len(s.Stored("sluice-results")); got != many-len(tc.denied) {
				t.Errorf("%d messages are stored, want %d", got, many-len(tc.denied))
			}
		})
	}
}

// A subject for which there is no stream is asked for once in an attempt: each answer may take
// seconds.
func TestAStreamThatCannotBeMadeIsAskedForOnceInAnAttempt(t *testing.T) {
	s := natstest.Start(t, nil)
	singly(t, s)
	transport := open(t, s, natsconn.Config{})
	defer transport.Close()
	nc, js := s.Client()
	defer nc.Close()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "sluice-incidents-high", Subjects: []string{"other"}}); err != nil {
		t.Fatal(err)
	}
	asked, err := nc.SubscribeSync("$JS.API.STREAM.LIST")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	all := messages(100)
	for i := 10; i < 60; i++ {
		all[i] = elsewhere(i, "incidents.high")
	}
	for attempt := 1; attempt <= 2; attempt++ {
		err = wantWrite(t, transport, all, map[int]int{1: 10, 2: 0}[attempt], "stream sluice-incidents-high exists and takes 'other'")
		all = all[len(all)-90:]
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		if n, _, _ := asked.Pending(); n != attempt {
			t.Errorf("%d lists of streams are asked for after attempt %d, want one for each", n, attempt)
		}
	}
	if isPermanent(err) {
		t.Error("a stream that somebody may mend is not tried again")
	}
	if err := js.DeleteStream(t.Context(), "sluice-incidents-high"); err != nil {
		t.Fatal(err)
	}
	wantWrittenAnew(t, transport, all)
	if got := strings.Join(natstest.Bodies(s.Stored("sluice-incidents-high")), " "); !strings.HasPrefix(got, "10 11 ") || !strings.HasSuffix(got, " 58 59") {
		t.Errorf("stored %s, want all in order", got)
	}
}
