package jetstream

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// requested records pull requests.
type requested struct{ all []string }

func (r *requested) PublishRequest(_, _ string, data []byte) error {
	r.all = append(r.all, string(data))
	return nil
}

func status(code, text, left string) *nats.Msg {
	h := nats.Header{"Status": {code}, "Description": {text}}
	if left != "" {
		h["Nats-Pending-Messages"] = []string{left}
	}
	return &nats.Msg{Header: h}
}

func TestWhatAServerSaysInsteadOfMessages(t *testing.T) {
	const bounded = `{"batch":200,"expires":30000000000,"idle_heartbeat":5000000000,"max_bytes":8388608}`
	const unbounded = `{"batch":200,"expires":30000000000,"idle_heartbeat":5000000000}`
	for _, tc := range []struct {
		name string
		said *nats.Msg
		open int      // messages that are still asked for
		more []string // requests that follow
		ends bool     // the subscription
	}{
		{"a heartbeat", status("100", "Idle Heartbeat", ""), 400, nil, false},
		{"a request that expired", status("408", "Request Timeout", "150"), 250, nil, false},
		{"a request that expired whole", status("408", "Request Timeout", "200"), 200, []string{bounded}, false},
		{"a request whose bytes are used up", status("409", "Message Size Exceeds MaxBytes", "40"), 360, nil, false},
		{"a message that is larger than a request may be", status("409", "Message Size Exceeds MaxBytes", "200"), 200, []string{unbounded}, false},
		{"a request that was fulfilled", status("409", "Batch Completed", "0"), 400, nil, false},
		{"nothing there", status("404", "No Messages", ""), 400, nil, false},
		{"a consumer that was deleted", status("409", "Consumer Deleted", ""), 400, nil, true},
		{"another leader", status("409", "Leadership Change", ""), 400, nil, true},
		{"a server that goes", status("409", "Server Shutdown", ""), 400, nil, true},
		{"nobody who answers", status("503", "", ""), 400, nil, true},
		{"a request that is refused", status("400", "Bad Request", ""), 400, nil, true},
		{"more than was asked for", status("408", "Request Timeout", "4000"), 0, []string{bounded, bounded}, false},
		{"nonsense", &nats.Msg{}, 400, nil, false},
	} {
		var r requested
		p := pulls{conn: &r, limits: limits{messages: 200, bytes: 8 << 20, expiry: 30 * time.Second}}
		if err := p.more(); err != nil || !slices.Equal(r.all, []string{bounded, bounded}) {
			t.Fatalf("%q and %v, want two requests", r.all, err)
		}
		r.all = nil
		if err := p.said(tc.said); errors.Is(err, errConsumer) != tc.ends || p.open != tc.open {
			t.Errorf("%s: %v and %d open, want %d and an end: %t", tc.name, err, p.open, tc.open, tc.ends)
		}
		if err := p.more(); err != nil || !slices.Equal(r.all, tc.more) {
			t.Errorf("%s: requests %q, want %q", tc.name, r.all, tc.more)
		}
	}
}

func TestPausesGrow(t *testing.T) {
	var b backoff
	var got []time.Duration
	for range 8 {
		got = append(got, b.grow())
	}
	want := []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000}
	for i := range want {
		if got[i] != want[i]*time.Millisecond {
			t.Errorf("pause %d is %s, want %s", i, got[i], want[i]*time.Millisecond)
		}
	}
}
