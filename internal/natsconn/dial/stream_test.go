package dial_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/dial"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

func TestStreamsThatAreMade(t *testing.T) {
	s := natstest.Start(t, nil)
	c, err := s.Dialer(natsconn.Config{}).Connect(s.Server().ClientURL(), "test", dial.Events{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	nc, js := s.Client()
	defer nc.Close()
	for _, tc := range []struct {
		name, subject string
		ensure        func(ctx context.Context, subject string) (*jetstream.StreamInfo, error)
		batches       bool
	}{
		{"one that is written to takes batches", "written", c.Target, true},
		{"one that is read from has the server's settings", "read", c.Source, false},
		{"one that is read from stays what it is when it is written to", "read", c.Target, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			info, err := tc.ensure(t.Context(), tc.subject)
			if err != nil {
				t.Fatal(err)
			}
			made, err := js.Stream(t.Context(), "sluice-"+tc.subject)
			if err != nil {
				t.Fatal(err)
			}
			for who, config := range map[string]jetstream.StreamConfig{"the answer": info.Config, "the server": made.CachedInfo().Config} {
				if config.AllowBatchPublish != tc.batches || !slices.Equal(config.Subjects, []string{tc.subject}) {
					t.Errorf("%s says %v with batches %v, want %s and %v", who, config.Subjects, config.AllowBatchPublish, tc.subject, tc.batches)
				}
			}
		})
	}
}

// older answers in the place of the JetStream of a server that knows no batches, and lists
// what it was asked to make.
func older(t *testing.T, nc *nats.Conn, refuses bool) (asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var made []string
	answers := map[string]func(request []byte) string{
		"$JS.API.STREAM.LIST":   func([]byte) string { return `{"total":0,"limit":256,"streams":[]}` },
		"$JS.API.STREAM.INFO.>": func([]byte) string { return `{"error":{"code":404,"err_code":10059,"description":"stream not found"}}` },
		"$JS.API.STREAM.CREATE.>": func(request []byte) string {
			mu.Lock()
			defer mu.Unlock()
			made = append(made, string(request))
			if refuses && strings.Contains(string(request), `"allow_batched"`) {
				return `{"error":{"code":400,"err_code":10025,"description":"invalid JSON: json: unknown field \"allow_batched\""}}`
			}
			var config struct {
				Name     string   `json:"name"`
				Subjects []string `json:"subjects"`
			}
			if err := json.Unmarshal(request, &config); err != nil {
				t.Error(err)
			}
			answer, err := json.Marshal(map[string]any{"config": config})
			if err != nil {
				t.Error(err)
			}
			return string(answer)
		},
	}
	for subject, answer := range answers {
		if _, err := nc.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte(answer(m.Data))) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(made)
	}
}

func TestAServerThatKnowsNoBatchesMakesAStreamWithout(t *testing.T) {
	for _, tc := range []struct {
		name    string
		refuses bool
		asked   int
	}{
		{"one that passes over what it does not know", false, 1},
		{"one that refuses what it does not know", true, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := natstest.Start(t, func(o *server.Options) { o.JetStream = false })
			nc, _ := s.Client()
			defer nc.Close()
			asked := older(t, nc, tc.refuses)
			c, err := s.Dialer(natsconn.Config{}).Connect(s.Server().ClientURL(), "test", dial.Events{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			info, err := c.Target(t.Context(), "results")
			if err != nil {
				t.Fatal(err)
			}
			if info.Config.AllowBatchPublish || info.Config.Name != "sluice-results" {
				t.Errorf("got %+v, want sluice-results without batches", info.Config)
			}
			if got := asked(); len(got) != tc.asked {
				t.Errorf("asked %d times, want %d: %q", len(got), tc.asked, got)
			}
		})
	}
}
