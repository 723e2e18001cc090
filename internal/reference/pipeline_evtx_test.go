package reference_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
	"github.com/sluicehq/sluice/sigma/result"
)

// toolRule is the rule that most cases rewrite.
const toolRule = `
title: R
name: r
id: 5b1f0a52-0001-4000-8000-000000000001
logsource: {product: windows, category: process_creation}
detection:
  selection: {Image|endswith: '\tool.exe', CommandLine|contains: alpha}
  condition: selection
level: high
`

// ruleWith is a windows process rule with its own detection block.
func ruleWith(detection string) string {
	return "title: R\nname: r\nlogsource: {product: windows, category: process_creation}\ndetection: {" + detection + "}\n"
}

// through loads rules through the pipelines named, with commas between them.
func through(t *testing.T, names, rules string) *load.Collection {
	t.Helper()
	s, err := pipeline.Load(strings.Split(names, ","))
	if err != nil {
		t.Fatal(err)
	}
	return loadThrough(s, rules)
}

func loadThrough(s *pipeline.Set, rules string) *load.Collection {
	return load.FromBytes("r.yml", []byte(rules), load.Options{Transform: s.Apply, TransformCorrelation: s.ApplyCorrelation})
}

// evaluated is what a rule set says of events: native lines, in order.
type findings struct{ detections, correlations []string }

// evaluate runs events through both engines, which must agree, and through the
// correlations, a second apart.
func evaluate(t *testing.T, c *load.Collection, events ...string) findings {
	t.Helper()
	if len(c.Rejected) > 0 {
		t.Fatalf("rejected %+v", c.Rejected)
	}
	slow, err := reference.New(c.Rules, reference.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fast, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := correlation.Compile(c.Correlations, c.Rules, correlation.Options{})
	if err != nil {
		t.Fatal(err)
	}
	extractor, source := correlation.NewExtractor(p), correlation.NewEventSource(p, fast)
	chain := correlation.New(p, correlation.Limits{})
	worker := fast.NewWorker()
	var out findings
	for i, text := range events {
		x, err := reference.DecodeJSON([]byte(text))
		if err != nil {
			t.Fatalf("event %s: %v", text, err)
		}
		var decoded engine.Events
		if err := worker.DecodeJSON(&decoded, []byte(text)); err != nil {
			t.Fatalf("event %s: %v", text, err)
		}
		var batch result.Batch
		worker.Evaluate(&decoded, 0, int64(i), &batch)
		var want []string
		for _, line := range slow.Evaluate(x, int64(i)) {
			want = append(want, string(line))
		}
		var got []string
		for k := range batch.Len() {
			got = append(got, string(batch.At(k).AppendNative(nil, nil)))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("event %s: the engine says %s, the reference %s", text, got, want)
		}
		out.detections = append(out.detections, got...)
		source.Open(worker, &decoded, 0)
		record := extractor.Append(nil, slow.Fires(x), int64(i), source)
		if len(record) == 0 {
			continue
		}
		chain.Begin()
		results, _, err := chain.Process(record, int64(i), int64(i), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			out.correlations = append(out.correlations, string(r.AppendNative(nil, nil)))
		}
		chain.Commit()
	}
	return out
}

const toolRecord = `{"Event":{"System":{"EventID":1},"EventData":{"Image":"C:\\w\\tool.exe","CommandLine":"run alpha"}}}`

func TestWindowsEvtxReadsRecords(t *testing.T) {
	linux := strings.Replace(toolRule, "product: windows", "product: linux", 1)
	flat := `{"Image":"C:\\w\\tool.exe","CommandLine":"alpha"}`
	for _, tc := range []struct {
		name, pipelines, rule, event string
		fields                       string // of the match, empty for none
	}{
		{
			"a record", "windows_evtx", toolRule, toolRecord,
			`[{"field":"Event.EventData.Image","value":"C:\\w\\tool.exe"},{"field":"Event.EventData.CommandLine","value":"run alpha"}]`,
		},
		{
			"with sysmon", "windows_evtx,sysmon", toolRule, toolRecord,
			`[{"field":"Event.EventData.Image","value":"C:\\w\\tool.exe"},{"field":"Event.EventData.CommandLine","value":"run alpha"},{"field":"Event.System.EventID","value":1}]`,
		},
		{"with sysmon and another id", "windows_evtx,sysmon", toolRule, strings.Replace(toolRecord, `"EventID":1`, `"EventID":5`, 1), ""},
		{"a flat event", "windows_evtx", toolRule, flat, ""},
		{"another product, a record", "windows_evtx", linux, toolRecord, ""},
		{
			"another product, a flat event", "windows_evtx", linux, flat,
			`[{"field":"Image","value":"C:\\w\\tool.exe"},{"field":"CommandLine","value":"alpha"}]`,
		},
		{
			"all fields that one is compared with, each by one path", "windows_evtx", ruleWith(`sel: {A|fieldref|all: [B, EventID]}, condition: sel`),
			`{"Event":{"System":{"EventID":7},"EventData":{"A":7,"B":7}}}`, `[{"field":"Event.EventData.A","value":7}]`,
		},
		{
			"names that are paths already stay", "windows_evtx", ruleWith(`sel: {Event.System.Computer: pc, Computer: pc}, condition: sel`),
			`{"Event":{"System":{"Computer":"pc"}}}`, `[{"field":"Event.System.Computer","value":"pc"},{"field":"Event.System.Computer","value":"pc"}]`,
		},
		{
			"elements of the system part", "windows_evtx",
			ruleWith(`sel: {Channel: a, Level: 1, Task: 2, Opcode: 3, Keywords: b, Version: 4, EventRecordID: 5}, condition: sel`),
			`{"Event":{"System":{"Channel":"a","Level":1,"Task":2,"Opcode":3,"Keywords":"b","Version":4,"EventRecordID":5}}}`,
			`[{"field":"Event.System.Channel","value":"a"},{"field":"Event.System.Level","value":1},{"field":"Event.System.Task","value":2},` +
				`{"field":"Event.System.Opcode","value":3},{"field":"Event.System.Keywords","value":"b"},{"field":"Event.System.Version","value":4},` +
				`{"field":"Event.System.EventRecordID","value":5}]`,
		},
		{
			"a reference to the event id", "windows_evtx", ruleWith(`sel: {Copy|fieldref: EventID}, condition: sel`),
			`{"Event":{"System":{"EventID":{"#text":7}},"EventData":{"Copy":7}}}`, `[{"field":"Event.EventData.Copy","value":7}]`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := evaluate(t, through(t, tc.pipelines, tc.rule), tc.event).detections
			switch {
			case tc.fields == "" && len(got) > 0:
				t.Errorf("matches: %s", got)
			case tc.fields != "" && (len(got) != 1 || !strings.Contains(got[0], `"matched_fields":`+tc.fields+`}`)):
				t.Errorf("results %s, want one with %s", got, tc.fields)
			}
		})
	}
}

// clearedRule has its field below a key that varies.
const clearedRule = `title: Cleared
name: cleared
logsource: {product: windows}
detection: {sel: {EventID: 104, Provider_Name: P, User: ann}, flt: {Path: null}, condition: sel and flt}
`

func cleared(inside string) string {
	return `{"Event":{"System":{"EventID":{"#attributes":{"Qualifiers":1},"#text":104},"Provider":{"#attributes":{"Name":"P"}}},` +
		`"UserData":{"LogFileCleared":{` + inside + `}}}}`
}

func TestCorrelationsReadPlaces(t *testing.T) {
	for _, tc := range []struct {
		name, correlation string
		events            []string
		want              []string // group keys and aggregates
	}{
		{
			"grouped by a field of user data", `event_count, rules: [cleared], group-by: [User], timespan: 5m, condition: {gte: 1}`,
			[]string{cleared(`"User":"ann"`), cleared(`"User":"ann","Path":"x"`)},
			[]string{`"group_key":[["Event.EventData.User","ann"]],"aggregated_value":1`},
		},
		{
			"an alias", `event_count, rules: [cleared], group-by: [who], aliases: {who: {cleared: User}}, timespan: 5m, condition: {gte: 1}`,
			[]string{cleared(`"User":"ann"`)},
			[]string{`"group_key":[["who","ann"]],"aggregated_value":1`},
		},
		{
			"a counted field", `value_count, rules: [cleared], timespan: 5m, condition: {field: Host, gte: 2}`,
			[]string{cleared(`"User":"ann","Host":"a"`), cleared(`"User":"ann","Host":"b"`)},
			[]string{`"group_key":[],"aggregated_value":2`},
		},
		{
			"an element with attributes stands for its text", `event_count, rules: [cleared], group-by: [EventID, Provider_Name], timespan: 5m, condition: {gte: 1}`,
			[]string{cleared(`"User":"ann"`)},
			[]string{`"group_key":[["Event.System.EventID","104"],["Event.System.Provider.#attributes.Name","P"]],"aggregated_value":1`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := clearedRule + "---\ntitle: C\ncorrelation: {type: " + tc.correlation + "}\n"
			got := evaluate(t, through(t, "windows_evtx", rules), tc.events...)
			if len(got.detections) == 0 || !strings.Contains(got.detections[0], `"matched_fields":[{"field":"Event.System.EventID.#text","value":104}`) {
				t.Errorf("detections %s", got.detections)
			}
			if len(got.correlations) != len(tc.want) {
				t.Fatalf("correlations %s, want %d", got.correlations, len(tc.want))
			}
			for i, want := range tc.want {
				if !strings.Contains(got.correlations[i], want) {
					t.Errorf("correlation %s, want %s", got.correlations[i], want)
				}
			}
		})
	}
}

// A field that was written as a path is another field than the one that has it
// as its first path.
func TestPlacedFieldsAreTheirOwn(t *testing.T) {
	rules := clearedRule + `---
title: Placed
correlation: {type: event_count, rules: [cleared], group-by: [User], timespan: 5m, condition: {gte: 1}}
---
title: Written
correlation: {type: event_count, rules: [cleared], group-by: [Event.EventData.User], timespan: 5m, condition: {gte: 1}}
`
	got := evaluate(t, through(t, "windows_evtx", rules), cleared(`"User":"ann"`)).correlations
	want := []string{`"group_key":[["Event.EventData.User","ann"]]`, `"group_key":[]`}
	if len(got) != 2 || !strings.Contains(got[0], want[0]) || !strings.Contains(got[1], want[1]) {
		t.Errorf("correlations %s, want %s", got, want)
	}
}

func TestCorrelationsGroupByRenamedFields(t *testing.T) {
	rules := toolRule + "---\ntitle: C\ncorrelation: {type: event_count, rules: [r], group-by: [User], timespan: 5m, condition: {gte: 1}}\n"
	event := func(user string) string {
		return `{"process":{"executable":"C:\\tool.exe","command_line":"alpha"},"user":{"name":"` + user + `"}}`
	}
	got := evaluate(t, through(t, "ecs_windows", rules), event("ann"), event("ann"), event("bob")).correlations
	for i, want := range []string{
		`"group_key":[["user.name","ann"]],"aggregated_value":1`, `"group_key":[["user.name","ann"]],"aggregated_value":2`,
		`"group_key":[["user.name","bob"]],"aggregated_value":1`,
	} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Errorf("result %d of %s lacks %s", i, got, want)
		}
	}
}
