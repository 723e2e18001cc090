package acceptance

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// logins is a rule for logins and correlations over it.
func logins(correlations ...string) string {
	return "title: Login\nid: d-login\nname: login_seen\nlevel: low\ndetection:\n  sel:\n    kind: login\n  condition: sel\n" + strings.Join(correlations, "")
}

// tooMany counts logins by user.
func tooMany(title string, gte int, extra string) string {
	return fmt.Sprintf("---\ntitle: %s\nid: c-burst\nlevel: high\ncorrelation:\n  type: event_count\n  rules: login_seen\n  group-by: user\n  timespan: 60s\n  condition:\n    gte: %d\n%s", title, gte, extra)
}

func login(user string, at int) string {
	return fmt.Sprintf(`{"kind":"login","user":%q,"timestamp":%d}`, user, at)
}

// fired is the result of tooMany.
func fired(title, user string, n int, rest string) string {
	return fmt.Sprintf(`{"rule_title":"%s","rule_id":"c-burst","level":"high","tags":[],"correlation_type":"event_count","group_key":[["user","%s"]],"aggregated_value":%d,"timespan_secs":60%s}`, title, user, n, rest)
}

const loginLine = `{"rule_title":"Login","rule_id":"d-login","level":"low","tags":[],"matched_selections":["sel"],"matched_fields":[{"field":"kind","value":"login"}]}`

// results waits for n lines on standard output.
func (d *daemon) results(n int) []string {
	d.t.Helper()
	d.await(fmt.Sprintf("%d results", n), func() bool { return len(d.stdout.lines()) >= n })
	return d.stdout.lines()
}

func (d *daemon) wantResults(want ...string) {
	d.t.Helper()
	if got := d.results(len(want)); !reflect.DeepEqual(got, want) {
		d.t.Errorf("results\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestABurstFiresWhereItHappens(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", logins(tooMany("Burst", 3, "")))
	d := start(t, "-r", dir, "--input", "http")
	d.push(login("ann", 100), login("ann", 101), login("bob", 102))
	d.push(login("ann", 103), login("bob", 190))
	d.wantResults(loginLine, loginLine, loginLine, loginLine, fired("Burst", "ann", 3, ""), loginLine)
	for series, want := range map[string]float64{
		"svc_correlation_matches_total": 1, "svc_detection_matches_total": 5, "svc_correlation_rules_loaded": 1, "svc_correlation_state_entries": 2,
		`svc_correlation_matches_by_rule_total{correlation_type="event_count",level="high",rule_title="Burst"}`: 1,
	} {
		if got := d.metric(series); got != want {
			t.Errorf("%s = %v, want %v", series, got, want)
		}
	}
	status := d.get("/api/v1/status").json(t)
	for name, want := range map[string]float64{"correlation_rules": 1, "correlation_state_entries": 2, "correlation_matches": 1, "detection_matches": 5} {
		if status[name] != want {
			t.Errorf("status: %s is %v, want %v", name, status[name], want)
		}
	}
	detail, _ := d.get("/api/v1/actors/correlate").json(t)["detail"].(map[string]any)
	if detail["correlation_rules"] != 1.0 || detail["state_entries"] != 2.0 || detail["stream_clock"].(float64) < 190 {
		t.Errorf("detail of the actor: %v", detail)
	}
	d.stop()
}

func TestModesOfIncludedEvents(t *testing.T) {
	rules := logins(tooMany("Burst", 2, ""))
	events := []string{`{"kind":"login","user":"ann","timestamp":10,"_id":"x1"}`, `{ "kind":"login", "user":"ann", "timestamp":11, "id":{}, "_id":"z" }`}
	full := `{"kind":"login","user":"ann","timestamp":11,"id":{},"_id":"z"}`
	for _, tc := range []struct {
		name  string
		rules string
		args  []string
		want  []string
	}{
		{"none", rules, nil, []string{loginLine, loginLine, fired("Burst", "ann", 2, "")}},
		{"refs", rules, []string{"--correlation-event-mode", "references"}, []string{
			loginLine, loginLine, fired("Burst", "ann", 2, `,"event_refs":[{"timestamp":10,"id":"x1"},{"timestamp":11}]`),
		}},
		{"full", rules, []string{"--correlation-event-mode", "FULL"}, []string{
			loginLine, loginLine, fired("Burst", "ann", 2, `,"events":[`+events[0]+`,`+full+`]`),
		}},
		{"a cap keeps the newest", rules, []string{"--correlation-event-mode", "full", "--max-correlation-events", "1"}, []string{
			loginLine, loginLine, fired("Burst", "ann", 2, `,"events":[`+full+`]`),
		}},
		{"an attribute goes before the flag", logins(tooMany("Burst", 2, "sluice.correlation_event_mode: none\n")), []string{"--correlation-event-mode", "full"}, []string{
			loginLine, loginLine, strings.Replace(fired("Burst", "ann", 2, ""), `"tags":[]`, `"tags":[],"custom_attributes":{"sluice.correlation_event_mode":"none"}`, 1),
		}},
		{"without detections", rules, []string{"--no-detections"}, []string{fired("Burst", "ann", 2, "")}},
		{"without detections but those asked for", logins(tooMany("Burst", 2, "generate: true\n")), []string{"--no-detections"}, []string{
			loginLine, loginLine, fired("Burst", "ann", 2, ""),
		}},
		{"with the time", rules, []string{"--result-time", "--no-detections"}, []string{
			strings.Replace(fired("Burst", "ann", 2, ""), `"tags":[]`, `"tags":[],"timestamp":"1970-01-01T00:00:11Z"`, 1),
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "a.yml", tc.rules)
			d := start(t, append([]string{"-r", dir, "--input", "http"}, tc.args...)...)
			d.push(events...)
			d.wantResults(tc.want...)
			d.stop()
		})
	}
}

func TestSettingsOfAllCorrelations(t *testing.T) {
	rules := logins(tooMany("Burst", 2, ""))
	asking := strings.Replace(rules, "level: low\n", "level: low\nsluice.suppress: 10s\nsluice.action: reset\n", 1)
	for _, tc := range []struct {
		name  string
		rules string
		args  []string
		times []int
		want  []int // values that fired
	}{
		{"every match fires", rules, nil, []int{100, 101, 102}, []int{2, 3}},
		{"suppression", rules, []string{"--suppress", "10s"}, []int{100, 101, 102, 110, 111}, []int{2, 5}},
		{"reset", rules, []string{"--action", "reset"}, []int{100, 101, 102, 103}, []int{2, 2}},
		{"a detection rule sets what flags leave open", asking, nil, []int{100, 101, 102, 111}, []int{2, 2}},
		{"a flag goes before a detection rule", asking, []string{"--action", "alert", "--suppress", "0s"}, []int{100, 101, 102}, []int{2, 3}},
		{"entries of a group", rules, []string{"--max-group-entries", "2"}, []int{100, 101, 102}, []int{2, 2}},
		{"another field has the time", rules, []string{"--timestamp-field", "when"}, []int{100, 101}, nil},
		{"events without a time are left out", rules, []string{"--timestamp-fallback", "skip"}, []int{-1, -1, -1}, nil},
		{"or have that of their arrival", rules, nil, []int{-1, -1, -1}, []int{2, 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "a.yml", tc.rules)
			d := start(t, append([]string{"-r", dir, "--input", "http", "--no-detections"}, tc.args...)...)
			var events []string
			for i, at := range tc.times {
				e := `{"kind":"login","user":"ann"}`
				if at >= 0 {
					e = fmt.Sprintf(`{"kind":"login","user":"ann","when":%d,"timestamp":%d}`, i*1000, at)
				}
				events = append(events, e)
			}
			d.push(events...)
			var want []string
			for _, v := range tc.want {
				want = append(want, fired("Burst", "ann", v, ""))
			}
			d.stop()
			if got := d.stdout.lines(); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("results\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestAReloadKeepsWindows(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", logins(tooMany("Before", 3, "")))
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--no-detections")
	d.push(login("ann", 100), login("ann", 101))
	d.reload(func() { replace(t, dir, "rules/a.yml", logins(tooMany("After", 3, ""))) })
	d.push(login("ann", 102))
	d.wantResults(fired("After", "ann", 3, ""))
	d.reload(func() {
		replace(t, dir, "rules/a.yml", logins(strings.Replace(tooMany("Host", 3, ""), "group-by: user", "group-by: host", 1)))
	})
	dropped := d.awaitLog("correlation state dropped")
	if dropped["correlation"] != "c-burst" || dropped["reason"] != "shape_changed" || dropped["groups"] != 1.0 {
		t.Errorf("logged %v, want that the state of c-burst is dropped", dropped)
	}
	d.reload(func() { replace(t, dir, "rules/a.yml", logins()) })
	d.await("an empty list of correlations", func() bool {
		return strings.TrimSpace(d.get("/api/v1/correlations").body) == `{"correlations":[],"count":0}`
	})
	d.stop()
}

// reload changes files and waits until a pass has taken the change over.
func (d *daemon) reload(change func()) {
	d.t.Helper()
	finished := func() int { return strings.Count(d.stderr.String(), `"reload finished"`) }
	before := finished()
	change()
	d.await("a reload", func() bool { return finished() > before })
}

func TestTheStateCanBeLookedAt(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", logins(
		"---\ntitle: avg\ncorrelation:\n  type: value_avg\n  rules: d-login\n  group-by: user\n  timespan: 1h\n  condition:\n    field: bytes\n    gt: 500\n",
		tooMany("Burst", 9, "")))
	d := start(t, "-r", dir, "--input", "http")
	d.push(`{"kind":"login","user":"ann","bytes":400,"timestamp":100}`, `{"kind":"login","user":"ann","bytes":700,"timestamp":110}`, `{"kind":"login","timestamp":111}`)
	const entries = `[{"index":0,"title":"avg","type":"value_avg","timespan_secs":3600,"window":"sliding","group_by":["user"],"rule_refs":["d-login"],"threshold":"> 500","active_groups":1},` +
		`{"index":1,"id":"c-burst","title":"Burst","type":"event_count","timespan_secs":60,"window":"sliding","group_by":["user"],"rule_refs":["login_seen"],"threshold":">= 9","active_groups":2}]`
	const avg = `{"correlation_index":0,"correlation_title":"avg","type":"value_avg","group_key":[{"field":"user","value":"ann"}],"group_key_display":"user=ann",
 "got":550,"threshold":"> 500","met":true,"entries":2,"earliest":100,"latest":110,"timespan_secs":3600,"seconds_to_eviction":3590,
 "last_alert":110,"window":{"NumericAgg":{"entries":[[100,400],[110,700]]}}}`
	const nobody = `{"correlation_index":1,"correlation_id":"c-burst","correlation_title":"Burst","type":"event_count","group_key":[{"field":"user"}],"group_key_display":"user=<none>",
 "got":1,"threshold":">= 9","met":false,"entries":1,"earliest":111,"latest":111,"timespan_secs":60,"seconds_to_eviction":60,"window":{"EventCount":{"timestamps":[111]}}}`
	const ann = `{"correlation_index":1,"correlation_id":"c-burst","correlation_title":"Burst","type":"event_count","group_key":[{"field":"user","value":"ann"}],"group_key_display":"user=ann",
 "got":2,"threshold":">= 9","met":false,"entries":2,"earliest":100,"latest":110,"timespan_secs":60,"seconds_to_eviction":50,"window":{"EventCount":{"timestamps":[100,110]}}}`
	list := func(entries string, groups ...string) string {
		return `{"correlations":` + entries + `,"groups":[` + strings.Join(groups, ",") + `],"count":` + fmt.Sprint(len(groups)) + `}`
	}
	one := entries[1:strings.Index(entries, `,{"index":1`)]
	two := entries[len(one)+2 : len(entries)-1]
	for path, want := range map[string]string{
		"/api/v1/correlations":                                 `{"correlations":` + entries + `,"count":2}`,
		"/api/v1/correlations/state":                           list(entries, avg, nobody, ann),
		"/api/v1/correlations/state?id=avg":                    list("["+one+"]", avg),
		"/api/v1/correlations/state?id=c-burst":                list("["+two+"]", nobody, ann),
		"/api/v1/correlations/state?id=Burst&group=user%3Dann": list("["+two+"]", ann),
		"/api/v1/correlations/state?group=none":                list(entries, nobody),
		"/api/v1/correlations/state?id=burst":                  list("[]"),
		"/api/v1/correlations/state?group=USER":                list(entries),
		"/api/v1/correlations/state?offset=1&limit=1":          strings.Replace(list(entries, nobody), `"count":1`, `"count":3`, 1),
		"/api/v1/correlations/state?id=avg&window=false":       list("["+one+"]", avg[:strings.Index(avg, `,"window"`)]+"}"),
	} {
		a := d.get(path)
		var wanted any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		if got := a.json(t); a.status != 200 || !reflect.DeepEqual(any(got), wanted) {
			t.Errorf("%s: %d\n%s\nwant\n%s", path, a.status, a.body, want)
		}
	}
	d.stop()
}

func TestStartsWithWrongCorrelationSettingsEndWithCodeThree(t *testing.T) {
	plainly(t)
	dir := t.TempDir()
	write(t, dir, "a.yml", logins())
	for _, tc := range []struct{ flag, value, want string }{
		{"--suppress", "1h30m", "1h30m"},
		{"--action", "maybe", "maybe"},
		{"--correlation-event-mode", "some", "some"},
		{"--max-correlation-events", "0", "0"},
		{"--max-state-entries", "0", "0"},
		{"--max-group-entries", "0", "0"},
		{"--timestamp-fallback", "now", "now"},
	} {
		if got := sluice(t, "", "engine", "daemon", "-r", dir, "--api-addr", "127.0.0.1:0", tc.flag, tc.value); got.code != 3 || !strings.Contains(got.stderr, tc.want) {
			t.Errorf("%s %s: exit %d, %s, want 3 naming the value", tc.flag, tc.value, got.code, got.stderr)
		}
	}
}

func TestTheLimitOnStateEvictsTheStalest(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", logins(strings.Replace(tooMany("Burst", 3, ""), "60s", "1h", 1)))
	d := start(t, "-r", dir, "--input", "http", "--max-state-entries", "10")
	for i := range 10 {
		d.push(login(fmt.Sprint("u", i), i))
	}
	d.push(login("u10", 100))
	if got := d.metric("svc_correlation_state_entries"); got != 10 {
		t.Errorf("%v groups, want 10", got)
	}
	if a := d.get("/api/v1/correlations/state?group=user%3Du0"); !strings.Contains(a.body, `"groups":[]`) {
		t.Errorf("u0 is still there: %s", a.body)
	}
	warned := d.awaitLog("correlation state is full")
	if warned["evicted"] != 1.0 || warned["max_state_entries"] != 10.0 || warned["groups"] != 10.0 {
		t.Errorf("warned %v", warned)
	}
	d.stop()
}
