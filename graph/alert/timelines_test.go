package alert

import "testing"

func TestTimelines(t *testing.T) {
	for _, tc := range []struct{ name, file, script string }{
		{"alerts repeat and end", `dedup: {fingerprint: [match.SourceIp], repeat_interval: 60s, resolve_timeout: 120s}`, `
			0   ssh ip=10.0.0.1 -> passes
			5   ssh ip=10.0.0.1 -> folded
			20  ssh ip=10.0.0.2 -> passes
			60  tick            -> repeat adf6c336a92545c4 count=2 first=0 last=5
			70  ssh ip=10.0.0.1 -> folded
			100 ssh ip=10.0.0.1 -> folded
			120 tick            -> repeat adf6c336a92545c4 count=4 first=0 last=100
			140 tick            -> resolved adf6c636a9254add count=1 first=20 last=20
			220 tick            -> resolved adf6c336a92545c4 count=4 first=0 last=100
			400 tick            -> nothing`},
		{"incidents wait, tell news, and end", `group: {by: [match.SourceIp], group_wait: 30s, group_interval: 5m, resolve_timeout: 1h}`, `
			0    ssh ip=10.0.0.1        -> passes 383cec03aede7b76
			12   b critical ip=10.0.0.1 -> passes 383cec03aede7b76
			30   tick                   -> group_wait 383cec03aede7b76 results=2 first=0 last=12 level=critical
			100  ssh ip=10.0.0.1        -> passes 383cec03aede7b76
			200  ssh ip=10.0.0.1        -> passes 383cec03aede7b76
			330  tick                   -> group_interval 383cec03aede7b76 results=4 first=0 last=200 level=critical
			700  ssh ip=10.0.0.1        -> passes 383cec03aede7b76
			700  tick                   -> group_interval 383cec03aede7b76 results=5 first=0 last=700 level=critical
			4300 tick                   -> resolved 383cec03aede7b76 results=5 first=0 last=700 level=critical
			9000 tick                   -> nothing`},
		{"incidents are repeated", `group: {by: [match.SourceIp], group_wait: 30s, group_interval: 5m, repeat_interval: 10m, resolve_timeout: 1h}`, `
			0    ssh ip=10.0.0.1 -> passes 383cec03aede7b76
			30   tick            -> group_wait 383cec03aede7b76 results=1 first=0 last=0 level=high
			100  ssh ip=10.0.0.1 -> passes 383cec03aede7b76
			330  tick            -> group_interval 383cec03aede7b76 results=2 first=0 last=100 level=high
			930  tick            -> repeat 383cec03aede7b76 results=2 first=0 last=100 level=high
			1530 tick            -> repeat 383cec03aede7b76 results=2 first=0 last=100 level=high
			2130 tick            -> repeat 383cec03aede7b76 results=2 first=0 last=100 level=high
			2730 tick            -> repeat 383cec03aede7b76 results=2 first=0 last=100 level=high
			3330 tick            -> repeat 383cec03aede7b76 results=2 first=0 last=100 level=high
			3700 tick            -> resolved 383cec03aede7b76 results=2 first=0 last=100 level=high`},
		{"repeats that are more frequent than news do not hold news back", `group: {by: [match.SourceIp], group_wait: 0, group_interval: 5m, repeat_interval: 60s, resolve_timeout: 400s}`, `
			0   ssh ip=10.0.0.1 -> passes 383cec03aede7b76
			0   tick            -> group_wait 383cec03aede7b76 results=1 first=0 last=0 level=high
			10  ssh ip=10.0.0.1 -> passes 383cec03aede7b76
			60  tick            -> repeat 383cec03aede7b76 results=2 first=0 last=10 level=high
			120 tick            -> repeat 383cec03aede7b76 results=2 first=0 last=10 level=high
			180 tick            -> repeat 383cec03aede7b76 results=2 first=0 last=10 level=high
			240 tick            -> repeat 383cec03aede7b76 results=2 first=0 last=10 level=high
			300 tick            -> group_interval 383cec03aede7b76 results=2 first=0 last=10 level=high
			360 tick            -> repeat 383cec03aede7b76 results=2 first=0 last=10 level=high
			410 tick            -> resolved 383cec03aede7b76 results=2 first=0 last=10 level=high`},
		{"a result joins two incidents", `group: {mode: entity_graph, entities: [match.SourceIp, match.User], group_wait: 30s, group_interval: 5m, resolve_timeout: 10m}`, `
			0   ssh ip=10.0.0.1 user=alice -> passes I1
			10  ssh ip=10.0.0.2 user=bob   -> passes I2
			30  tick -> group_wait I1 results=1 first=0 last=0 level=high match.SourceIp=10.0.0.1 match.User=alice
			40  tick -> group_wait I2 results=1 first=10 last=10 level=high match.SourceIp=10.0.0.2 match.User=bob
			50  ssh ip=10.0.0.2 user=alice -> passes I1
			340 tick -> group_interval I1 results=3 first=0 last=50 level=high match.SourceIp=10.0.0.1,10.0.0.2 match.User=alice,bob
			650 tick -> resolved I1 results=3 first=0 last=50 level=high match.SourceIp=10.0.0.1,10.0.0.2 match.User=alice,bob`},
		{"a silence holds the repeats of an alert", `{dedup: {fingerprint: [rule], repeat_interval: 60s, resolve_timeout: 120s}, silences: [{matchers: [{selector: rule, value: rule-ssh}], starts_at: 1970-01-01T00:00:50Z, ends_at: 1970-01-01T00:01:40Z}]}`, `
			0   ssh  -> passes
			40  ssh  -> folded
			60  ssh  -> silenced
			100 tick -> repeat 8f190c2d739ada70 count=3 first=0 last=60
			180 tick -> resolved 8f190c2d739ada70 count=3 first=0 last=60
			410 ssh  -> passes`},
		{"a silence does not hold the end of an alert", `{dedup: {fingerprint: [rule], repeat_interval: 60s, resolve_timeout: 120s}, silences: [{matchers: [{selector: rule, value: rule-ssh}], starts_at: 1970-01-01T00:00:50Z, ends_at: 1970-01-01T00:06:40Z}]}`, `
			0   ssh  -> passes
			40  ssh  -> folded
			60  ssh  -> silenced
			180 tick -> resolved 8f190c2d739ada70 count=3 first=0 last=60
			410 ssh  -> passes`},
		{"sources inhibit for five minutes", `inhibit_rules: [{name: crit, source_match: [{selector: level, value: critical}], target_match: [{selector: level, value: high}], equal: [match.SourceIp]}]`, `
			0   ssh critical ip=10.0.0.1 -> passes
			1   ssh ip=10.0.0.1 -> inhibited by crit
			2   ssh ip=10.0.0.2 -> passes
			299 ssh ip=10.0.0.1 -> inhibited by crit
			300 ssh ip=10.0.0.1 -> passes`},
		{"what is out of scope goes on", `{scope: {levels: [critical]}, dedup: {fingerprint: [rule]}}`, `
			0 ssh -> passes
			1 ssh -> passes`},
		{"a full store lets results pass", `dedup: {fingerprint: [match.SourceIp], max_active_alerts: 1, resolve_timeout: 60s}`, `
			0  ssh ip=10.0.0.1 -> passes
			1  ssh ip=10.0.0.2 -> passes
			2  ssh ip=10.0.0.2 -> passes
			3  ssh ip=10.0.0.1 -> folded
			63 tick -> resolved adf6c336a92545c4 count=2 first=0 last=3`},
		{"an alert that ends without repeats", `dedup: {fingerprint: [rule], resolve_timeout: 30s}`, `
			0  ssh  -> passes
			10 ssh  -> folded
			40 tick -> resolved 8f190c2d739ada70 count=2 first=0 last=10
			45 ssh  -> passes
			75 tick -> resolved 8f190c2d739ada70 count=1 first=45 last=45`},
		{"a repeat after a long quiet time", `dedup: {fingerprint: [rule], repeat_interval: 60s}`, `
			0   ssh  -> passes
			600 ssh  -> folded
			600 tick -> repeat 8f190c2d739ada70 count=2 first=0 last=600`},
		{"a wait that is longer than the time to resolve", `group: {by: [match.SourceIp], group_wait: 60s, resolve_timeout: 20s}`, `
			0  ssh ip=10.0.0.1 -> passes 383cec03aede7b76
			60 tick -> group_wait 383cec03aede7b76 results=1 first=0 last=0 level=high
			61 tick -> resolved 383cec03aede7b76 results=1 first=0 last=0 level=high`},
		{"too many incidents", `group: {by: [match.SourceIp], group_wait: 1h, caps: {max_open_incidents: 1}}`, `
			0 ssh ip=10.0.0.1 -> passes 383cec03aede7b76
			1 ssh ip=10.0.0.2 -> passes
			2 ssh ip=10.0.0.1 -> passes 383cec03aede7b76`},
		{"results without the value share an incident", `group: {by: [match.User], group_wait: 1h}`, `
			0 ssh ip=10.0.0.1 -> passes 64a8b826e39d0102
			1 b   ip=10.0.0.2 -> passes 64a8b826e39d0102`},
		{"values that are never joined by", `group: {mode: entity_graph, entities: [match.SourceIp, match.User], stop_values: ["0.0.0.0"], group_wait: 1h}`, `
			0 ssh ip=0.0.0.0 user=alice -> passes I1
			1 ssh ip=0.0.0.0 user=bob   -> passes I2
			2 ssh ip=0.0.0.0 user=alice -> passes I1`},
		{"results without an entity have no incident", `group: {mode: entity_graph, entities: [match.SourceIp], group_wait: 0}`, `
			0 ssh            -> passes
			1 ssh ip=        -> passes
			2 ssh user=alice -> passes
			9 tick           -> nothing`},
		{"a value that did not fit leads nowhere when its incident has ended", `group: {mode: entity_graph, entities: [match.SourceIp, match.User], resolve_timeout: 10s, group_wait: 0, caps: {max_entities_per_incident: 1}}`, `
			0  ssh ip=10.0.0.1 user=alice -> passes I1
			0  tick -> group_wait I1 results=1 first=0 last=0 level=high match.SourceIp=10.0.0.1 match.User=alice
			1  ssh ip=10.0.0.2 user=alice -> passes I1
			11 tick -> resolved I1 results=2 first=0 last=1 level=high match.SourceIp=10.0.0.1 match.User=alice
			20 ssh ip=10.0.0.2 user=zed -> passes I2
			20 tick -> group_wait I2 results=1 first=20 last=20 level=high match.SourceIp=10.0.0.2 match.User=zed`},
		{"a result that is source and target is not inhibited by itself", `inhibit_rules: [{source_match: [{selector: level, value: high}], target_match: [{selector: level, value: high}]}]`, `
			0 ssh -> passes
			1 ssh -> passes`},
		{"a silenced source inhibits", `{inhibit_rules: [{source_match: [{selector: level, value: critical}], target_match: [{selector: level, value: high}]}], silences: [{matchers: [{selector: level, value: critical}]}]}`, `
			0 ssh critical -> silenced
			1 ssh          -> inhibited by inhibit_rule_0`},
		{"an inhibited source does not inhibit", `inhibit_rules: [{source_match: [{selector: level, value: critical}], target_match: [{selector: level, value: high}]}, {source_match: [{selector: level, value: high}], target_match: [{selector: level, value: low}]}]`, `
			0 ssh critical -> passes
			1 ssh          -> inhibited by inhibit_rule_0
			2 ssh low      -> passes`},
		{"a silence holds an incident that nobody has heard of", `{group: {by: [match.SourceIp], group_wait: 30s}, silences: [{matchers: [{selector: rule, value: rule-ssh}], starts_at: 1970-01-01T00:00:10Z, ends_at: 1970-01-01T00:01:40Z}]}`, `
			0   ssh ip=10.0.0.1 -> passes 383cec03aede7b76
			100 tick -> group_wait 383cec03aede7b76 results=1 first=0 last=0 level=high`},
		{"an incident that stays silenced goes unheard", `{group: {by: [match.SourceIp], group_wait: 30s, resolve_timeout: 60s}, silences: [{matchers: [{selector: rule, value: rule-ssh}], starts_at: 1970-01-01T00:00:10Z}]}`, `
			0   ssh ip=10.0.0.1 -> passes 383cec03aede7b76
			300 tick -> nothing`},
		{"half a second is a second", `group: {by: [match.SourceIp], group_wait: 500ms}`, `
			0 ssh ip=10.0.0.1 -> passes 383cec03aede7b76
			1 tick -> group_wait 383cec03aede7b76 results=1 first=0 last=0 level=high`},
		{"an empty file lets everything pass", `{}`, `
			0 ssh -> passes
			1 ssh -> passes`},
	} {
		t.Run(tc.name, func(t *testing.T) { newTimeline(t, tc.file).play(tc.script) })
	}
}

// Results that are folded keep their incident open, and tell it nothing.
func TestAnAlertKeepsItsIncidentOpen(t *testing.T) {
	l := newTimeline(t, `{dedup: {fingerprint: [match.SourceIp], resolve_timeout: 1h}, group: {by: [match.SourceIp], group_wait: 30s, group_interval: 5m, resolve_timeout: 10m}}`)
	l.play(`
		0  ssh ip=10.0.0.1 -> passes 383cec03aede7b76
		30 tick -> group_wait 383cec03aede7b76 results=1 first=0 last=0 level=high`)
	for at := int64(60); at <= 1200; at += 60 {
		l.advance(at)
		if got := l.process(result(t, "ssh ip=10.0.0.1")); got != "folded" {
			t.Fatalf("at %d: %s", at, got)
		}
	}
	l.play(`
		4800 tick -> resolved adf6c336a92545c4 count=21 first=0 last=1200
		4800 tick -> resolved 383cec03aede7b76 results=21 first=0 last=1200 level=high
		9000 tick -> nothing`)
}
