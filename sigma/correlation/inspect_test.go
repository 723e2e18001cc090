package correlation_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheStateOfAnExample(t *testing.T) {
	rule := "title: avg\ncorrelation:\n  type: value_avg\n  rules: [d-login]\n  group-by: [user]\n  timespan: 1h\n  condition: {field: bytes, gt: 500}\n"
	d := newDriver(t, compile(t, rule, program.Options{}), 0)
	d.feed(with(100, `"bytes":400`))
	d.feed(with(110, `"bytes":700`))
	groups, count := d.engine.Export().State(correlation.Filter{})
	want := `{"correlation_index":0,"correlation_title":"avg","type":"value_avg","group_key":[{"field":"user","value":"ann"}],"group_key_display":"user=ann",` +
		`"got":550,"threshold":"\u003e 500","met":true,"entries":2,"earliest":100,"latest":110,"timespan_secs":3600,"seconds_to_eviction":3590,` +
		`"last_alert":110,"window":{"NumericAgg":{"entries":[[100,400],[110,700]]}}}`
	if got := mustJSON(t, groups[0]); count != 1 || got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWindowsAreShownByType(t *testing.T) {
	for _, tc := range []struct {
		name, rule string
		events     []input
		want       string
	}{
		{"counts", body(count3), at(100, 110, 110), `{"EventCount":{"timestamps":[100,110],"counts":[1,2]}}`},
		{
			"texts", body("type: value_count\ncondition: {field: src, gte: 9}"),
			[]input{with(100, `"src":"a"`), with(110, `"src":"b"`)},
			`{"ValueCount":{"entries":[[100,"a"],[110,"b"]]}}`,
		},
		{
			"tuples have a separator between their parts", body("type: value_count\ncondition: {field: [src, dst], gte: 9}"),
			[]input{with(100, `"src":"a","dst":"b"`)},
			`{"ValueCount":{"entries":[[100,"a\u001fb"]]}}`,
		},
		{
			"hits go by the reference as written", body("type: temporal\nrules: [recon_seen, d-exploit]"),
			[]input{with(100, `"kind":"recon"`)},
			`{"Temporal":{"rule_hits":{"recon_seen":[100]}}}`,
		},
		{
			"numbers", body("type: value_median\ncondition: {field: n, gte: 9}"),
			[]input{with(100, `"n":400`), with(110, `"n":700.5`)},
			`{"NumericAgg":{"entries":[[100,400],[110,700.5]]}}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, tc.rule, program.Options{}), 0)
			d.run(tc.events)
			groups, _ := d.engine.Export().State(correlation.Filter{})
			if got := mustJSON(t, groups[0].Window); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestGroupsOfTheState(t *testing.T) {
	d := newDriver(t, compile(t, body(count3+"\ngroup-by: [user, host]\nsluice.suppress: 10s"), program.Options{}), 0)
	d.run([]input{with(5, `"user":"b"`), with(6, `"user":"a","host":""`), with(7, `"user":"c"`), with(8, `"user":"c"`), with(9, `"user":"c"`), with(12, `"user":"c"`)})
	v := d.engine.Export()
	display := func(f correlation.Filter) (list []string, count int) {
		groups, count := v.State(f)
		for _, g := range groups {
			list = append(list, g.GroupKeyDisplay)
		}
		return list, count
	}
	all := []string{"user=a, host=", "user=b, host=<none>", "user=c, host=<none>"}
	for _, tc := range []struct {
		name   string
		filter correlation.Filter
		want   []string
		count  int
	}{
		{"sorted by display", correlation.Filter{}, all, 3},
		{"by part of the display", correlation.Filter{Group: "<none>"}, all[1:], 2},
		{"by id", correlation.Filter{ID: "c"}, all, 3},
		{"no such id", correlation.Filter{ID: "C"}, nil, 0},
		{"a page, with the count of all", correlation.Filter{Offset: 1, Limit: 1}, all[1:2], 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, count := display(tc.filter); !slices.Equal(got, tc.want) || count != tc.count {
				t.Errorf("got %q of %d, want %q of %d", got, count, tc.want, tc.count)
			}
		})
	}
	groups, _ := v.State(correlation.Filter{Group: "user=c", NoWindow: true})
	want := `{"correlation_index":0,"correlation_id":"c","correlation_title":"c","type":"event_count","group_key":[{"field":"user","value":"c"},{"field":"host"}],` +
		`"group_key_display":"user=c, host=\u003cnone\u003e","got":4,"threshold":"\u003e= 3","met":true,"entries":4,"earliest":7,"latest":12,"timespan_secs":60,` +
		`"seconds_to_eviction":55,"last_alert":9,"suppress_secs":10,"suppression_remaining":7}`
	if got := mustJSON(t, groups[0]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEntriesOfTheList(t *testing.T) {
	text := named("first", count3+"\nwindow: session\ngap: 5s") + "---\n" +
		named("second", "type: temporal\nrules: [d-recon, d-exploit, recon_seen]\ncondition: d-recon and not d-exploit\ngroup-by: [ip]\naliases: {ip: {d-recon: dst}}") +
		"---\n" + named("third", "type: event_count\ncondition: {gt: 2, lte: 4}") + "name: other\n"
	d := newDriver(t, compile(t, text, program.Options{}), 0)
	d.run(at(1))
	want := `[{"index":0,"id":"first","title":"first","type":"event_count","timespan_secs":60,"window":"session","gap_secs":5,"group_by":["user"],"rule_refs":["d-login"],"threshold":"\u003e= 3","active_groups":1},` +
		`{"index":1,"id":"second","title":"second","type":"temporal","timespan_secs":60,"window":"sliding","group_by":["ip"],"rule_refs":["d-recon","d-exploit","recon_seen"],"threshold":"d-recon and not d-exploit","active_groups":0},` +
		`{"index":2,"id":"third","name":"other","title":"third","type":"event_count","timespan_secs":60,"window":"sliding","group_by":["user"],"rule_refs":["d-login"],"threshold":"\u003c= 4, \u003e 2","active_groups":1}]`
	if got := mustJSON(t, d.engine.Export().Entries(correlation.Filter{})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := d.engine.Export().Entries(correlation.Filter{ID: "second"}); len(got) != 1 || got[0].Index != 1 {
		t.Errorf("got %v, want the second only", got)
	}
}

func TestNothingMatchedIsAnEmptyList(t *testing.T) {
	v := correlation.New(compile(t, body(count3), program.Options{}), correlation.Limits{}).Export()
	groups, _ := v.State(correlation.Filter{})
	if got := mustJSON(t, groups) + mustJSON(t, v.Entries(correlation.Filter{ID: "no"})); got != "[][]" {
		t.Errorf("got %s, want two empty lists", got)
	}
}

// What a window counts is shown as it is kept: a second once, however much of it.
func TestAShownWindowIsNoLargerThanTheWindow(t *testing.T) {
	const events = 100_000
	for _, tc := range []struct{ name, rule, want string }{
		{"counts", body(count3), `{"EventCount":{"timestamps":[100,101],"counts":[100000,1]}}`},
		{"hits", body("type: temporal\nrules: [d-login, d-recon]"), `{"Temporal":{"rule_hits":{"d-login":[100,101]},"counts":{"d-login":[100000,1]}}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, compile(t, tc.rule, program.Options{}), 0)
			for range events {
				d.feed(at(100)[0])
			}
			d.feed(at(101)[0])
			groups, _ := d.engine.Export().State(correlation.Filter{})
			if got := mustJSON(t, groups[0].Window); got != tc.want {
				t.Errorf("got %.300s, want %s", got, tc.want)
			}
		})
	}
}

// Pages that go on behind the last group of the one before make up the whole, also
// when groups come and go meanwhile.
func TestPagesMakeUpTheWhole(t *testing.T) {
	text := named("one", count3) + "---\n" + named("two", count3)
	for _, limit := range []int{70, 1000, 5000} {
		d := newDriver(t, compile(t, text, program.Options{}), 0)
		const users = 3000
		for i := range users {
			d.feed(with(100, fmt.Sprintf(`"user":"u%d"`, i*7919%users)))
		}
		whole, count := d.engine.Export().State(correlation.Filter{})
		f := correlation.Filter{Limit: limit}
		var got []correlation.GroupEntry
		for first := true; ; first = false {
			page, n := d.engine.Export().State(f)
			if first && n != count {
				t.Errorf("limit %d: the first page counts %d, want %d", limit, n, count)
			}
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
			place := page[len(page)-1].Place()
			f.After = &place
		}
		if mustJSON(t, got) != mustJSON(t, whole) {
			t.Errorf("limit %d: %d groups, want the %d of the whole, in its order", limit, len(got), len(whole))
		}
	}
	d := newDriver(t, compile(t, body(count3), program.Options{}), 0)
	d.run([]input{with(100, `"user":"b"`), with(100, `"user":"d"`)})
	first, _ := d.engine.Export().State(correlation.Filter{Limit: 1})
	d.run([]input{with(101, `"user":"a"`), with(101, `"user":"c"`)})
	place := first[0].Place()
	rest, _ := d.engine.Export().State(correlation.Filter{Limit: 9, After: &place})
	if len(rest) != 2 || rest[0].GroupKeyDisplay != "user=c" || rest[1].GroupKeyDisplay != "user=d" {
		t.Errorf("behind b: %s, want c and d", mustJSON(t, rest))
	}
}
