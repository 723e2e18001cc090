package correlation_test

import (
	"slices"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

const count3 = "type: event_count\ncondition: {gte: 3}"

func TestCases(t *testing.T) {
	user := func(ts int64, json string) input { return with(ts, `"user":`+json) }
	recon := func(ts int64) input { return with(ts, `"kind":"recon"`) }
	exploit := func(ts int64) input { return with(ts, `"kind":"exploit"`) }
	temporal := func(kind, rest string) string {
		return body("type: " + kind + "\nrules: [d-recon, d-exploit]\n" + rest)
	}
	many := named("lower", "type: event_count\ncondition: {gte: 2}")
	for _, tc := range []struct {
		name   string
		rule   string
		events []input
		want   []string
	}{
		{"1: every further match fires again", body(count3), at(100, 110, 120, 130), []string{"3@120", "4@130"}},
		{"2: exactly 60 s old still counts", body(count3), at(100, 130, 160), []string{"3@160"}},
		{"3: a second more does not", body(count3), at(100, 130, 161), nil},
		{
			"4: users are counted apart", body(count3),
			[]input{user(100, `"ann"`), user(101, `"ann"`), user(102, `"bob"`), user(103, `"ann"`)},
			[]string{"3@103"},
		},
		{
			"5: events without the field share a group", body(count3),
			[]input{user(1, "-,"), user(2, "-,"), user(3, "-,")},
			[]string{"3@3 []"},
		},
		{
			"6: 7, 7.0 and text 7 are one group", body(count3),
			[]input{user(1, "7"), user(2, "7.0"), user(3, `"7"`)},
			[]string{"3@3 [{user 7}]"},
		},
		{
			"7: objects and null are missing", body(count3),
			[]input{user(1, `{"n":1}`), user(2, "null"), user(3, "-,")},
			[]string{"3@3 []"},
		},
		{
			"8: without group-by there is one group", body(count3 + "\ngroup-by: []"),
			[]input{user(1, `"a"`), user(2, `"b"`), user(3, `"c"`)},
			[]string{"3@3 []"},
		},
		{"9: all operators must hold", body("type: event_count\ncondition: {gt: 2, lte: 4}"), at(1, 2, 3, 4, 5), []string{"3@3", "4@4"}},
		{"10: fewer than three is true at the first", body("type: event_count\ncondition: {lt: 3}"), at(10), []string{"1@10"}},
		{"11: tumbling buckets begin at multiples", body(count3 + "\nwindow: tumbling\ntimespan: 10s"), at(8, 9, 12), nil},
		{"12: an earlier bucket is discarded", body(count3 + "\nwindow: tumbling\ntimespan: 10s"), at(12, 15, 9, 16), []string{"3@16"}},
		{"13: exactly the gap goes on", body(count3 + "\nwindow: session\ngap: 5s\ntimespan: 100s"), at(0, 5, 10), []string{"3@10"}},
		{"14: a longer gap ends the session", body(count3 + "\nwindow: session\ngap: 5s\ntimespan: 100s"), at(0, 4, 20), nil},
		{"15: exactly the span goes on", body(count3 + "\nwindow: session\ngap: 100s\ntimespan: 10s"), at(0, 5, 10), []string{"3@10"}},
		{"15: a longer span ends the session", body(count3 + "\nwindow: session\ngap: 100s\ntimespan: 10s"), at(0, 5, 12), nil},
		{
			"16: suppression does not move while it suppresses", body(count3 + "\nsluice.suppress: 10s"),
			at(1000, 1001, 1002, 1003, 1009, 1011, 1012),
			[]string{"3@1002", "7@1012"},
		},
		{
			"17: reset begins anew", body(count3 + "\nsluice.action: reset"),
			at(1000, 1001, 1002, 1003, 1004, 1005),
			[]string{"3@1002", "3@1005"},
		},
		{
			"18: the window fills while suppressed", body(count3 + "\nsluice.action: reset\nsluice.suppress: 5s"),
			at(1000, 1001, 1002, 1003, 1004, 1005, 1008),
			[]string{"3@1002", "4@1008"},
		},
		{"19: a cap below the threshold never fires", body(count3 + "\nsluice.max_group_entries: 2"), at(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), nil},
		{
			"20: a capped session still measures from its start",
			body(count3 + "\nwindow: session\ngap: 10s\ntimespan: 20s\nsluice.max_group_entries: 2"),
			at(0, 5, 9, 16, 24),
			nil,
		},
		{
			"21: distinct values count", body("type: value_count\ncondition: {field: src, gte: 3}"),
			[]input{with(1, `"src":"a"`), with(2, `"src":"b"`), with(3, `"src":"a"`), with(4, `"src":"c"`)},
			[]string{"3@4"},
		},
		{
			"22: null is a value, lists and absence are not", body("type: value_count\ncondition: {field: src, gte: 3}"),
			[]input{
				with(1, `"src":"a"`), with(2, `"src":null`), with(3, `"src":"null"`),
				with(4, `"src":["b"]`), with(5, ``), with(6, `"src":5`),
			},
			[]string{"3@6"},
		},
		{
			"23: tuples are counted as a unit", body("type: value_count\ncondition: {field: [src, dst], gte: 2}"),
			[]input{with(1, `"src":"a","dst":"x"`), with(2, `"src":"a","dst":"x"`), with(3, `"src":"a","dst":"y"`)},
			[]string{"2@3"},
		},
		{
			"24, 25: numbers in texts add, true and absence do not", body("type: value_sum\ncondition: {field: bytes, gt: 1000}"),
			[]input{with(1, `"bytes":"600"`), with(2, `"bytes":500`), with(3, `"bytes":true`), with(4, ``)},
			[]string{"1100@2"},
		},
		{
			"26: the average", body("type: value_avg\ncondition: {field: bytes, gt: 500}"),
			[]input{with(1, `"bytes":400`), with(2, `"bytes":700`)},
			[]string{"550@2"},
		},
		{
			"27: a percentile interpolates", body("type: value_percentile\ncondition: {field: n, percentile: 90, gte: 90}"),
			numbers(10, 20, 30, 40, 50, 60, 70, 80, 90, 100),
			[]string{"91@10"},
		},
		{
			"28: the median of two is their mean", body("type: value_median\ncondition: {field: n, gte: 4}"),
			numbers(1, 9, 2),
			[]string{"5@2"},
		},
		{"29: temporal wants all members", temporal("temporal", ""), []input{recon(10), exploit(20)}, []string{"2@20"}},
		{
			"30: names refer as well as ids", body("type: temporal\nrules: [recon_seen, exploit_seen]"),
			[]input{recon(10), exploit(20)},
			[]string{"2@20"},
		},
		{"31: order matters when ordered", temporal("temporal_ordered", "condition: {gte: 2}"), []input{exploit(10), recon(20), exploit(30)}, []string{"2@30"}},
		{"32: the same second is in order", temporal("temporal_ordered", "condition: {gte: 2}"), []input{exploit(10), recon(10)}, []string{"2@10"}},
		{
			"33: an extended condition", temporal("temporal", "condition: d-recon and not d-exploit"),
			[]input{recon(10), exploit(20), recon(30)},
			[]string{"1@10"},
		},
		{
			"an extended condition in another spelling", temporal("temporal", "condition: recon_seen and not exploit_seen"),
			[]input{recon(10), exploit(20), recon(30)},
			[]string{"1@10"},
		},
		{
			"members may be those of the condition alone",
			"title: c\ncorrelation: {type: temporal, group-by: user, timespan: 60s, condition: d-recon and d-exploit}\n",
			[]input{recon(10), exploit(20)},
			[]string{"2@20"},
		},
		{
			"quantifiers count members", temporal("temporal", "condition: all of them"),
			[]input{recon(10), exploit(20)},
			[]string{"2@20"},
		},
		{
			"an extended condition needs the order, too", temporal("temporal_ordered", "condition: 1 of d-*"),
			[]input{exploit(10), recon(20), exploit(30)},
			[]string{"2@30"},
		},
		{
			"34: an event that meets two rules counts twice", body("type: event_count\nrules: [d-a, d-b]\ncondition: {gte: 2}"),
			[]input{with(7, `"kind":"both"`)},
			[]string{"2@7"},
		},
		{
			"35: a correlation of a correlation and a detection",
			many + "---\n" + named("upper", "type: temporal_ordered\nrules: [lower, d-exploit]\ntimespan: 120s\ncondition: {gte: 2}"),
			[]input{with(10, ``), with(11, ``), exploit(30)},
			[]string{"lower 2@11", "upper 2@30"},
		},
		{
			"36: firings above follow those below",
			many + "---\n" + named("upper", "type: event_count\nrules: [lower]\ncondition: {gte: 2}"),
			at(10, 11, 12),
			[]string{"lower 2@11", "lower 3@12", "upper 2@12"},
		},
		{
			"37: aliases read other fields of other rules",
			body("type: temporal\nrules: [d-recon, d-exploit]\ngroup-by: [ip]\ncondition: {gte: 2}\naliases: {ip: {recon_seen: dst, exploit_seen: src}}"),
			[]input{with(1, `"kind":"recon","dst":"10.0.0.5"`), with(2, `"kind":"exploit","src":"10.0.0.5"`)},
			[]string{"2@2 [{ip 10.0.0.5}]"},
		},
		{"44: too old for the window is discarded", body(count3 + "\ntimespan: 10s"), at(100, 101, 50), nil},
		{
			"45: three in a row heal a group from the future", body(count3 + "\ntimespan: 10s"),
			at(9999999999, 100, 101, 102, 103, 104),
			[]string{"3@104"},
		},
		{
			"52: long integers keep their digits", body(count3),
			[]input{
				user(1, "123456789012345678901234567890"), user(2, "123456789012345678901234567890"),
				user(3, `"123456789012345678901234567890"`),
			},
			[]string{"3@3 [{user 123456789012345678901234567890}]"},
		},
		{
			"a rule with a name only feeds what refers to it", body("type: event_count\nrules: [no_id]\ncondition: {gte: 2}"),
			[]input{with(1, `"kind":"named"`), with(2, `"kind":"named"`)},
			[]string{"2@2"},
		},
		{
			"reset keeps the protection against late events", body(count3 + "\nsluice.action: reset\ntimespan: 10s"),
			at(100, 100, 100, 80, 100, 100),
			[]string{"3@100"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, tc.rule, program.Options{}), 0)
			if got := d.run(tc.events); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func numbers(values ...int) []input {
	var list []input
	for i, v := range values {
		list = append(list, with(int64(i+1), `"n":`+itoa(v)))
	}
	return list
}
