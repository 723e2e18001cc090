//go:build !no_nats

package inputs_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/inputs"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

func TestSpecsOfNATS(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"a subject", "nats://h:4222/events.>", ""},
		{"no subject", "nats://h:4222", ""},
		{"a group and a format", "nats://h:4222/events.>?group=grp&format=json", ""},
		{"no port", "nats://h/events", "input 'nats://h/events': 'h' is no host:port"},
		{"a filter that is none", "nats://h:4222/a..b", "input 'nats://h:4222/a..b': subject 'a..b' is no filter: tokens with dots between them, none of them empty, '*' for any token and a last '>' for any tokens"},
		{"an empty group", "nats://h:4222/a?group=", "input 'nats://h:4222/a?group=': group= names no consumer"},
		{"a group with a dot", "nats://h:4222/a?group=x.y", "input 'nats://h:4222/a?group=x.y': group=x.y names a consumer: it holds no dots, wildcards, slashes and white space"},
		{"an unknown parameter", "nats://h:4222/a?groupe=x", "input 'nats://h:4222/a?groupe=x': unknown parameter 'groupe', not one of format, group"},
		{"a parameter of another kind", "nats://h:4222/a?ack=snapshot", "input 'nats://h:4222/a?ack=snapshot': unknown parameter 'ack', not one of format, group; --nats-ack-mode says for all NATS inputs when messages are acknowledged"},
	} {
		var got string
		inputs.Parse([]string{tc.text}, nil, func(_ int, err error) { got = err.Error() })
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestInputsThatAreSureToShareAConsumer(t *testing.T) {
	const mend = ", so that each takes messages of the other (?group=NAME gives one of them a consumer of its own)"
	for _, tc := range []struct {
		name, group string
		texts       []string
		want        string
	}{
		{
			"two filters that are named alike and overlap", "",
			[]string{"nats://h:1/web.>", "nats://h:1/web.*"},
			"input 'nats://h:1/web.*' reads with consumer sluice-daemon-web, as input 'nats://h:1/web.>' does" + mend,
		},
		{"one of them with a group", "", []string{"nats://h:1/web.>", "nats://h:1/web.*?group=g"}, ""},
		{
			"both with one group", "",
			[]string{"nats://h:1/web.>?group=g", "nats://h:1/web.a?group=g&format=json"},
			"input 'nats://h:1/web.a?group=g&format=json' reads with consumer g, as input 'nats://h:1/web.>?group=g' does" + mend,
		},
		{
			"the group of the daemon", "g",
			[]string{"nats://h:1/web.>", "nats://h:1/*.a"},
			"input 'nats://h:1/*.a' reads with consumer g, as input 'nats://h:1/web.>' does" + mend,
		},
		{
			"every subject, written in two ways", "",
			[]string{"nats://h:1", "nats://H:1/>"},
			"input 'nats://H:1/>' reads with consumer sluice-daemon-all, as input 'nats://h:1' does" + mend,
		},
		{"filters that do not overlap may be of two streams", "g", []string{"nats://h:1/web.>", "nats://h:1/dns.>"}, ""},
		{"other servers", "g", []string{"nats://h:1/web.>", "nats://i:1/web.>", "nats://h:2/web.>"}, ""},
		{"other kinds", "g", []string{"stdin", "nats://h:1/web.>", "unix:///web"}, ""},
	} {
		cfg := &config.Default().Daemon
		cfg.NATS.ConsumerGroup = tc.group
		specs := inputs.Parse(tc.texts, nil, func(_ int, err error) { t.Error(err) })
		var got string
		if err := inputs.CheckConsumers(specs, cfg); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// Whether filters are of one stream is seen when they are opened.
func TestInputsThatComeToOneConsumerAreRefused(t *testing.T) {
	s := natstest.Start(t, nil)
	nc, js := s.Client()
	defer nc.Close()
	for name, subject := range map[string]string{"EVENTS": "events.*", "LOGS": "logs.>"} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subject}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name, group   string
		first, second string // subjects
		taken         string // the consumer
	}{
		{"filters of one stream with one group", "g", "events.a", "events.b", "g"},
		{"filters of two streams with one group", "h", "events.a", "logs.a", ""},
		{"filters of one stream that are named alike", "", "logs.a.b", "logs.a-b", "sluice-daemon-logs-a-b"},
	} {
		cfg := &config.Default().Daemon
		cfg.NATS.ConsumerGroup = tc.group
		metrics, err := inputs.NewMetrics(prometheus.NewRegistry())
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{"nats://" + s.Target(tc.first), "nats://" + strings.Replace(s.Target(tc.second), "127.0.0.1", "localhost", 1)}
		specs := inputs.Parse(texts, nil, func(_ int, err error) { t.Error(err) })
		if err := inputs.CheckConsumers(specs, cfg); err != nil {
			t.Errorf("%s: %v before anything is opened", tc.name, err)
		}
		set, err := inputs.Open(specs, inputs.Environment{Config: cfg, Log: slog.New(slog.DiscardHandler), Metrics: metrics})
		var got, want string
		if tc.taken != "" {
			want = fmt.Sprintf("--input %s: it reads with consumer %s, as input '%s' does, so that each takes messages of the other (?group=NAME gives one of them a consumer of its own)", texts[1], tc.taken, texts[0])
		}
		if err != nil {
			got = err.Error()
		} else if err := set.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", tc.name, got, want)
		}
	}
}

func TestAReplayNeedsAnInputThatReplays(t *testing.T) {
	latest := natsconn.Input{ReplayFromLatest: true}
	for _, tc := range []struct {
		name  string
		texts []string
		in    natsconn.Input
		ok    bool
	}{
		{"standard input", []string{"stdin"}, latest, false},
		{"standard input without a replay", []string{"stdin"}, natsconn.DefaultInput(), true},
		{"NATS", []string{"nats://h:1/a"}, latest, true},
		{"both", []string{"stdin", "nats://h:1/a"}, latest, true},
	} {
		specs := inputs.Parse(tc.texts, nil, func(_ int, err error) { t.Error(err) })
		if err := inputs.CheckReplay(specs, tc.in); (err == nil) != tc.ok {
			t.Errorf("%s: got %v, want it allowed: %t", tc.name, err, tc.ok)
		}
	}
}
