package natsconn

import (
	"slices"
	"strings"
	"testing"
)

func TestTargetsThatAreNone(t *testing.T) {
	for target, want := range map[string]string{
		"h:4222": "", "h:4222/": "", "h:4222/events.>": "", "h:4222/a.*.b": "", "h:4222/>": "",
		"h/a": "is no host:port", "u:p@h:1/a": "holds no credentials", "h:1/a..b": "is no filter", "h:1/a.>.b": "is no filter",
		"h:1/a b": "is no filter", "h:1/a*": "is no filter", "h:1/.a": "is no filter",
	} {
		if err := CheckSource(target); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", target, err, want)
		}
	}
}

func TestHowStreamsAreRead(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   Input
		want []string // key and message
	}{
		{"the default", DefaultInput(), nil},
		{"a sequence", Input{ReplayFromSequence: "1"}, nil},
		{"a time", Input{ReplayFromTime: "2026-03-10T00:00:00+01:00"}, nil},
		{"the newest of a group", Input{ReplayFromLatest: true, ConsumerGroup: "grp-1_a"}, nil},
		{"sequence 0", Input{ReplayFromSequence: "0"}, []string{`--replay-from-sequence: "0" is no sequence number: those begin with 1`}},
		{"a negative sequence", Input{ReplayFromSequence: "-1"}, []string{`--replay-from-sequence: "-1" is no sequence number: those begin with 1`}},
		{"a date", Input{ReplayFromTime: "2026-03-10"}, []string{"--replay-from-time: Invalid --replay-from-time '2026-03-10': it is no RFC 3339 time, such as 2026-03-10T00:00:00Z"}},
		{"two places", Input{ReplayFromSequence: "1", ReplayFromLatest: true}, []string{"--replay-from-latest: excludes --replay-from-sequence"}},
		{"three places", Input{ReplayFromSequence: "1", ReplayFromTime: "2026-03-10T00:00:00Z", ReplayFromLatest: true}, []string{"--replay-from-latest: excludes --replay-from-sequence and --replay-from-time"}},
		{"a group with a dot", Input{ConsumerGroup: "a.b"}, []string{"consumer_group: names a consumer: it holds no dots, wildcards, slashes and white space"}},
	} {
		var got []string
		tc.in.Validate(func(key string, err error) { got = append(got, key+": "+err.Error()) })
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestConsumersAreNamedAfterTheirSubjectOrGroup(t *testing.T) {
	for _, tc := range []struct{ subject, group, want string }{
		{"events.>", "", "sluice-daemon-events"}, {"logs.*.auth", "grp", "grp"}, {">", "", "sluice-daemon-all"},
	} {
		if got := (Input{ConsumerGroup: tc.group}).ConsumerName(tc.subject); got != tc.want {
			t.Errorf("%s %s: got %s, want %s", tc.subject, tc.group, got, tc.want)
		}
	}
}

func TestFiltersThatTakeTheSame(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"a.>", "a.>", true}, {"a.>", "a.*", false}, {"a.*", "a.>", false}, {"a b", "b a", true}, {"a", "a b", false},
	} {
		if got := Same(strings.Fields(tc.a), strings.Fields(tc.b)); got != tc.want {
			t.Errorf("%s and %s: got %t, want %t", tc.a, tc.b, got, tc.want)
		}
	}
}
