//go:build !no_nats

package inputs_test

import (
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/inputs"
	"github.com/sluicehq/sluice/internal/natsconn"
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
		{"an unknown parameter", "nats://h:4222/a?groupe=x", "input 'nats://h:4222/a?groupe=x': unknown parameter 'groupe'"},
	} {
		var got string
		inputs.Parse([]string{tc.text}, nil, func(_ int, err error) { got = err.Error() })
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
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
