package alert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/graph"
)

const grouping = "group: {by: [match.SourceIp], group_wait: 30s, group_interval: 5m, resolve_timeout: 1h}"

// incidentOf is the incident that a result which went on names.
func incidentOf(t *testing.T, set *graph.ResultSet) string {
	t.Helper()
	var m struct {
		ID string `json:"incident_id"`
	}
	if err := json.Unmarshal(set.Results[0].Enrichments, &m); err != nil {
		t.Fatal(err)
	}
	return m.ID
}

func TestResultsAreGroupedIntoIncidents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, grouping).spawn()
		time.Sleep(500 * time.Millisecond) // between two ticks
		r.put(detection("rule-ssh", "high", "10.0.0.1"))
		until(12 * time.Second)
		r.put(detection("rule-b", "critical", "10.0.0.1"))
		for _, set := range r.next.All() {
			if got := incidentOf(t, set); got != "383cec03aede7b76" {
				t.Errorf("incident %s, want 383cec03aede7b76", got)
			}
		}
		v, err := r.client.Incidents(t.Context())
		if err != nil || v == nil {
			t.Fatalf("incidents %v, %v", v, err)
		}
		r.wantMetrics(map[string]float64{"incidents_open": 1})
		if d, ok := r.system.Detail(t.Context(), "alert").(Detail); !ok || *d.Group != (GroupDetail{Batching: 1}) {
			t.Errorf("detail %+v, want one incident that waits", d.Group)
		}
		until(19 * time.Second)
		r.wantPassed("rule-ssh rule-b incident:group_wait(2)")
		if d, ok := r.system.Detail(t.Context(), "alert").(Detail); !ok || *d.Group != (GroupDetail{Open: 1}) {
			t.Errorf("detail %+v, want one incident that was reported", d.Group)
		}
		until(2 * time.Hour)
		r.wantPassed("rule-ssh rule-b incident:group_wait(2) incident:resolved(2)")
		r.wantMetrics(map[string]float64{
			"incidents_open": 0, "incidents_emitted_total{group_wait}": 1, "incidents_emitted_total{resolved}": 1, "incident_results_total": 2,
		})
	})
}

func TestWithoutGroupingThereIsNoListOfIncidents(t *testing.T) {
	for _, file := range []string{"", "{}", folding} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, file).spawn()
			if v, err := r.client.Incidents(t.Context()); v != nil || err != nil {
				t.Errorf("file %q: %v, %v, want none", file, v, err)
			}
		})
	}
}

func TestAnIncidentThatNobodyWasToldOfAtTheEnd(t *testing.T) {
	for _, tc := range []struct {
		name string
		kept bool
		want string
	}{
		{"without a state database it is reported before the exit", false, "ssh incident:group_wait(1)"},
		{"with one it is kept", true, "ssh"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, grouping, func(o *Options) { o.Kept = tc.kept }).spawn()
				r.put(detection("ssh", "high", "10.0.0.1"))
				until(10 * time.Second)
				d := r.Cell().Drain()
				<-d.Done()
				view, _ := d.Finish()
				r.wantPassed(tc.want)
				if !tc.kept {
					return
				}
				again := newRig(t, grouping, func(o *Options) { o.Kept = true })
				again.load(view.(actors.View))
				again.spawn()
				until(21 * time.Second)
				again.wantPassed("incident:group_wait(1)")
			})
		})
	}
}

// load restores what a view has.
func (r *rig) load(v actors.View) {
	r.tb.Helper()
	var saved bytes.Buffer
	if err := v.Encode(&saved, time.Now().Unix()); err != nil {
		r.tb.Fatal(err)
	}
	parts := r.Feature().Saved
	if len(parts) != 1 || parts[0].Restore == nil {
		r.tb.Fatalf("parts %+v, want one that is restored", parts)
	}
	if err := parts[0].Restore(&saved, time.Now()); err != nil {
		r.tb.Fatal(err)
	}
}

func TestStateGoesOnAfterADowntime(t *testing.T) {
	const file = "dedup: {fingerprint: [match.SourceIp], resolve_timeout: 1h}\n" + grouping
	for _, tc := range []struct {
		name     string
		opened   time.Duration // behind the result, when it is saved
		downtime time.Duration
		want     string // at the first tick
		second   string // and at the next
	}{
		{"a short one: what repeats is folded", 100 * time.Second, 100 * time.Second, "", ""},
		{"one in which their time ran out", 100 * time.Second, time.Hour, "alert_summary:resolved(1) incident:resolved(1)", ""},
		{"an incident that was never reported is reported first", 10 * time.Second, 490 * time.Second, "incident:group_wait(1)", ""},
		{"and resolved then, when its time ran out", 10 * time.Second, 2 * time.Hour, "alert_summary:resolved(1) incident:group_wait(1)", " incident:resolved(1)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, file).spawn()
				r.put(detection("ssh", "high", "10.0.0.1"))
				until(tc.opened)
				b := graph.NewBarrier(1)
				r.send(&graph.ResultSet{Barrier: b})
				r.Cell().Close()
				time.Sleep(tc.downtime)
				again := newRig(t, file, func(o *Options) { o.Kept = true })
				again.load(b.Exports()[graph.StageAlert].(actors.View))
				again.wantMetrics(map[string]float64{"dedup_store_entries": 1, "incidents_open": 1})
				again.spawn()
				if tc.want == "" {
					again.put(detection("ssh", "high", "10.0.0.1"))
					again.wantSettled(1)
				}
				until(1100 * time.Millisecond)
				again.wantPassed(tc.want)
				until(time.Second)
				again.wantPassed(tc.want + tc.second)
			})
		})
	}
}

func TestAReloadThatEndsGrouping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, grouping).spawn()
		r.put(detection("ssh", "high", "10.0.0.1"))
		until(40 * time.Second)
		r.put(detection("ssh", "high", "10.0.0.2"))
		if err := r.client.configure(t.Context(), parse(t, "{}")); err != nil {
			t.Fatal(err)
		}
		r.wantPassed("ssh incident:group_wait(1) ssh incident:resolved(1)")
		r.wantMetrics(map[string]float64{"incidents_open": 0, "incidents_emitted_total{resolved}": 1})
		if v, err := r.client.Incidents(t.Context()); v != nil || err != nil {
			t.Errorf("incidents %v, %v, want none", v, err)
		}
	})
}

func TestIncidentsBeyondTheLimitAreToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "group: {by: [match.SourceIp], caps: {max_open_incidents: 1}}").spawn()
		r.put(detection("ssh", "", "x"))
		for i := range 3 {
			r.put(detection("ssh", "", fmt.Sprint(i)))
		}
		for i, set := range r.next.All() {
			if named := len(set.Results[0].Enrichments) > 0; named != (i == 0) {
				t.Errorf("result %d: %s", i, set.Results[0].Enrichments)
			}
		}
		r.wantMetrics(map[string]float64{"incidents_open": 1})
		d := r.Cell().Drain()
		<-d.Done()
		d.Finish()
		const text = "too many incidents are open"
		if all := r.log.Matching("level=WARN", text); len(all) != 2 || len(r.log.Matching(text, "results=1 ")) != 1 || len(r.log.Matching(text, "results=2 ")) != 1 {
			t.Errorf("logged %q, want one result at once and the other two at the end", all)
		}
	})
}

func TestAnEnrichmentThatHasTheNameOfTheIncidentIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, grouping).spawn()
		d := detection("ssh", "high", "10.0.0.1")
		d.Enrichments = []byte(`{"incident_id":"mine","geo":"de"}`)
		r.put(d)
		if got, want := string(r.next.All()[0].Results[0].Enrichments), `{"incident_id":"383cec03aede7b76","geo":"de"}`; got != want {
			t.Errorf("enrichments %s, want %s", got, want)
		}
		if len(r.log.Matching("level=DEBUG", "incident_id is replaced")) != 1 {
			t.Error("it is not told")
		}
	})
}

func TestRecordsNameTheSubjectOfTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "dedup: {fingerprint: [rule], resolve_timeout: 1s}\ngroup: {by: [rule], group_wait: 0, nats_subject: soc.incidents}").spawn()
		r.put(detection("ssh", "", ""))
		until(3 * time.Second)
		for _, set := range r.next.All() {
			if set.Record == nil {
				continue
			}
			a, ok := set.Record.(graph.Addressed)
			if incident := set.Record.Kind() == "incident"; ok != incident || ok && a.NATSSubject() != "soc.incidents" {
				t.Errorf("a record of kind %s has a subject of its own: %t", set.Record.Kind(), ok)
			}
		}
	})
}
