package sigma_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
)

const failed = "title: Failed\nid: failed\ndetection: {s: {outcome: failure}, condition: s}\n"

const guessing = "---\ntitle: Guessing\ncorrelation: {type: event_count, rules: [failed], group-by: [user], timespan: 1m, condition: {gte: 2}}\n"

func TestADetectorFindsDetectionsAndCorrelations(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ann := `{"outcome":"failure","user":"ann"}`
	for _, tc := range []struct {
		name    string
		rules   string
		options []sigma.Option
		lines   []string
		want    string
	}{
		{"each line on its own", failed, nil, []string{ann, `{}`, ann}, "[Failed] [] [] [] [Failed] []"},
		{"matches are counted", failed + guessing, nil, []string{ann, ann}, "[Failed] [] [Failed] [Guessing]"},
		{"by group", failed + guessing, nil, []string{ann, `{"outcome":"failure","user":"bob"}`}, "[Failed] [] [Failed] []"},
		{
			"with options of correlations", failed + guessing,
			[]sigma.Option{sigma.WithCorrelation(correlation.Options{Action: "reset"})},
			[]string{ann, ann, ann},
			"[Failed] [] [Failed] [Guessing] [Failed] []",
		},
		{
			"with options of the engine", failed,
			[]sigma.Option{sigma.WithEngine(engine.Options{MatchDetail: result.Full})},
			[]string{ann},
			"[Failed] []",
		},
		{
			"a pipeline renames fields", "title: Tool\nlogsource: {product: windows, category: process_creation}\ndetection: {s: {Image: a.exe}, condition: s}\n",
			[]sigma.Option{sigma.WithPipelines("ecs_windows")},
			[]string{`{"process":{"executable":"a.exe"}}`, `{"Image":"a.exe"}`},
			"[Tool] [] [] []",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := sigma.Open(fstest.MapFS{"r.yml": {Data: []byte(tc.rules)}}, tc.options...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, line := range tc.lines {
				found, err := d.Detect([]byte(line), noon.Add(time.Duration(i)*time.Second))
				if err != nil {
					t.Fatal(err)
				}
				detections, correlations := []string{}, []string{}
				for _, r := range found.Detections {
					detections = append(detections, r.Rule.Title)
				}
				for _, r := range found.Correlations {
					correlations = append(correlations, r.Rule.Title)
				}
				got = append(got, fmt.Sprint(detections, " ", correlations))
			}
			if all := strings.Join(got, " "); all != tc.want {
				t.Errorf("got %s, want %s", all, tc.want)
			}
		})
	}
}

func TestFaultyDocumentsAndLines(t *testing.T) {
	const broken = "title: Broken\ndetection: {s: {a|nope: 1}, condition: s}\n"
	if _, err := sigma.Open(fstest.MapFS{"r.yml": {Data: []byte(broken)}}); err == nil || !strings.Contains(err.Error(), "Unknown modifier 'nope'") {
		t.Errorf("got %v, want the reason why no rule is usable", err)
	}
	if _, err := sigma.Open(fstest.MapFS{}, sigma.WithPipelines("nowhere.yml")); err == nil {
		t.Error("a pipeline that does not exist was accepted")
	}
	d, err := sigma.Open(fstest.MapFS{"r.yml": {Data: []byte(failed + "---\n" + broken)}})
	if err != nil || len(d.Rules().Rules) != 1 || len(d.Rules().Rejected) != 1 {
		t.Fatalf("got %v, want one rule in use and one rejected", err)
	}
	if _, err := d.Detect([]byte(`{`), time.Now()); err == nil {
		t.Error("a line that is not JSON was accepted")
	}
}
