package alert

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/selector"
)

// What is held comes out at the first tick at which nothing holds it any more.
func TestRecordsAreHeldUntilNothingHoldsThem(t *testing.T) {
	const grouped = `group: {by: [match.SourceIp], group_wait: 30s, resolve_timeout: 1h}`
	const due = "group_wait 383cec03aede7b76 results=1 first=0 last=0 level=high"
	mute := func(p *Pipeline, id string) {
		s, err := silence.Compile(silence.Spec{ID: id, Matchers: []selector.Condition{{Selector: "rule", Op: selector.Equal, Value: "rule-ssh"}}}, silence.API, 0)
		if err != nil {
			t.Fatal(err)
		}
		p.Silences().Add(s)
	}
	for _, tc := range []struct {
		name, file string
		at         map[int64]func(*timeline)
		want       string // the records
	}{
		{"a silence is deleted", grouped, map[int64]func(*timeline){
			10: func(l *timeline) { mute(l.pipeline, "a") },
			70: func(l *timeline) { l.pipeline.Silences().Remove("a") },
		}, "70 " + due},
		{"one of two silences is deleted", grouped, map[int64]func(*timeline){
			10: func(l *timeline) { mute(l.pipeline, "a"); mute(l.pipeline, "b") },
			70: func(l *timeline) { l.pipeline.Silences().Remove("a") },
		}, ""},
		{"the silences of the file change", grouped, map[int64]func(*timeline){
			10: func(l *timeline) {
				l.pipeline.Configure(parsed(t, "{silences: [{matchers: [{selector: rule, value: rule-ssh}]}], "+grouped+"}"), 10, nil)
			},
			70: func(l *timeline) { l.pipeline.Configure(parsed(t, grouped), 70, nil) },
		}, "70 " + due},
		{"a source of inhibition is over", `{inhibit_rules: [{source_match: [{selector: level, value: critical}], target_match: [{selector: level, value: high}], duration: 1m}], ` + grouped + `}`, map[int64]func(*timeline){
			10: func(l *timeline) { l.process(result(t, "b critical user=x")) }, // opens an incident that is never silenced
		}, "40 group_wait bf5913d3e1fd7fe7 results=1 first=10 last=10 level=critical|70 " + due},
		{"a source of inhibition comes again", `{inhibit_rules: [{source_match: [{selector: level, value: critical}], target_match: [{selector: level, value: high}], duration: 1m}], scope: {levels: [critical, high]}, ` + strings.Replace(grouped, "match.SourceIp", "rule", 1) + `}`, map[int64]func(*timeline){
			10: func(l *timeline) { l.process(result(t, "b critical")) },
			50: func(l *timeline) { l.process(result(t, "b critical")) },
		}, "40 group_wait X results=1 first=10 last=10 level=critical|110 group_wait Y results=1 first=0 last=0 level=high"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newTimeline(t, tc.file)
			l.advance(0)
			l.process(result(t, "ssh ip=10.0.0.1"))
			for at := int64(1); at <= 200; at++ {
				l.advance(at)
				if do := tc.at[at]; do != nil {
					do(l)
				}
			}
			got := strings.Join(l.records, "|")
			if strings.Contains(tc.want, "X") { // ids are not the point
				got = strings.NewReplacer(idOf(t, "b critical"), "X", idOf(t, "ssh"), "Y").Replace(got)
				got = withoutNews(got)
			}
			if got != tc.want {
				t.Errorf("got\n%s, want\n%s", got, tc.want)
			}
		})
	}
}

// idOf is the id of the incident that results of a rule belong to when they are grouped by
// their rules.
func idOf(t *testing.T, text string) string {
	t.Helper()
	return strings.TrimPrefix(newTimeline(t, "group: {by: [rule]}").process(result(t, text)), "passes ")
}

// withoutNews drops the records of news.
func withoutNews(records string) string {
	var kept []string
	for r := range strings.SplitSeq(records, "|") {
		if !strings.Contains(r, "group_interval") {
			kept = append(kept, r)
		}
	}
	return strings.Join(kept, "|")
}

// A record that a silence holds is not read again at every tick.
func BenchmarkTickThatHoldsTenThousand(b *testing.B) {
	p := New(parsedFile(b, `{dedup: {fingerprint: [match.SourceIp]}, group: {by: [match.SourceIp], group_wait: 1s}}`), Options{})
	var set graph.ResultSet
	for _, r := range distinct(b, 10_000) {
		process(p, &set, r, 1)
	}
	s, err := silence.Compile(silence.Spec{ID: "all", Matchers: []selector.Condition{{Selector: "rule", Op: selector.Like, Value: ".*"}}}, silence.API, 0)
	if err != nil {
		b.Fatal(err)
	}
	p.Silences().Add(s)
	now := int64(10)
	for b.Loop() {
		now++
		if now > 3000 {
			now = 11 // nothing may come to its end
		}
		p.Tick(now, func(r graph.Record) { b.Fatalf("a record came out: %s", r.AppendNative(nil)) })
	}
}
