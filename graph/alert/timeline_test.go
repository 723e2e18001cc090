package alert

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/native"
)

// A timeline is a script: a line for each result and for each record, in order.
//
//	0    ssh ip=10.0.0.1 -> passes 383cec03aede7b76
//	30   tick            -> group_wait 383cec03aede7b76 results=2 first=0 last=12 level=critical
//
// A result is named by its rule, followed by its level if that is not high, and by its
// matched fields. What follows the arrow of a tick is a record that comes out in that
// second; every second has its tick behind its results, and no other record may come out.
type timeline struct {
	t        *testing.T
	pipeline *Pipeline
	now      int64
	records  []string
	ids      int
}

// rules are the ids of the rules of scripts, by their short names.
var rules = map[string]string{"ssh": "rule-ssh", "b": "rule-b"}

func parsed(t *testing.T, text string) *File {
	t.Helper()
	f, _, faults := Parse([]byte(text))
	for _, fault := range faults {
		t.Errorf("line %d: %v", fault.Line, fault)
	}
	if f == nil {
		t.FailNow()
	}
	return f
}

func newTimeline(t *testing.T, file string) *timeline {
	t.Helper()
	l := &timeline{t: t, now: -1}
	l.pipeline = New(parsed(t, file), Options{NewID: func() string {
		l.ids++
		return "I" + strconv.Itoa(l.ids)
	}})
	return l
}

// result makes the result that a script names.
func result(t *testing.T, text string) graph.Result {
	t.Helper()
	words := strings.Fields(text)
	level := "high"
	var fields []string
	for _, w := range words[1:] {
		name, value, is := strings.Cut(w, "=")
		if !is {
			level = w
			continue
		}
		if name == "ip" {
			name = "SourceIp"
		}
		if name == "user" {
			name = "User"
		}
		if !strings.HasPrefix(value, "{") && value != "null" {
			if _, err := strconv.Atoi(value); err != nil {
				value = strconv.Quote(value)
			}
		}
		fields = append(fields, fmt.Sprintf(`{"field":%q,"value":%s}`, name, value))
	}
	id, ok := rules[words[0]]
	if !ok {
		id = words[0]
	}
	r, err := native.Parse(fmt.Appendf(nil, `{"rule_title":%q,"rule_id":%q,"level":%q,"tags":["attack.t1110"],"matched_selections":["sel"],"matched_fields":[%s]}`,
		"Title of "+id, id, level, strings.Join(fields, ",")))
	if err != nil {
		t.Fatal(err)
	}
	return *r
}

// advance runs the ticks up to, and without, that of a second.
func (l *timeline) advance(to int64) {
	for l.now < to {
		l.tick(l.now)
		l.now++
	}
}

func (l *timeline) tick(now int64) {
	l.pipeline.Tick(now, func(r graph.Record) {
		l.records = append(l.records, fmt.Sprintf("%d %s", now, brief(l.t, r)))
	})
}

// process brings a result to the pipeline and tells what became of it.
func (l *timeline) process(r graph.Result) string {
	set := graph.ResultSet{Results: []graph.Result{r}}
	o := l.pipeline.Process(&set, l.now)
	switch {
	case len(set.Results) == 1:
		var line struct {
			Enrichments struct {
				ID string `json:"incident_id"`
			} `json:"enrichments"`
		}
		if err := json.Unmarshal(set.Results[0].AppendNative(nil), &line); err != nil {
			l.t.Fatal(err)
		}
		return strings.TrimSpace("passes " + line.Enrichments.ID)
	case len(o.Inhibited) == 1:
		return "inhibited by " + o.Inhibited[0]
	case o.Silenced == 1:
		return "silenced"
	case o.Folded == 1:
		return "folded"
	}
	return fmt.Sprintf("gone: %+v", o)
}

// brief is what scripts say of a record.
func brief(t *testing.T, r graph.Record) string {
	t.Helper()
	line := r.AppendNative(nil)
	var in struct {
		ID       string              `json:"incident_id"`
		Trigger  string              `json:"trigger"`
		First    int64               `json:"first_seen"`
		Last     int64               `json:"last_seen"`
		Results  int                 `json:"result_count"`
		Level    string              `json:"max_level"`
		Entities map[string][]string `json:"entities"`
		Alert    struct {
			State       string `json:"dedup_state"`
			Fingerprint string `json:"dedup_fingerprint"`
			Count       int    `json:"dedup_fire_count"`
			First       int64  `json:"dedup_first_seen"`
			Last        int64  `json:"dedup_last_seen"`
		} `json:"enrichments"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if in.ID == "" {
		return fmt.Sprintf("%s %s count=%d first=%d last=%d", in.Alert.State, in.Alert.Fingerprint, in.Alert.Count, in.Alert.First, in.Alert.Last)
	}
	text := fmt.Sprintf("%s %s results=%d first=%d last=%d level=%s", in.Trigger, in.ID, in.Results, in.First, in.Last, in.Level)
	for _, selector := range slices.Sorted(keys(in.Entities)) {
		text += " " + selector + "=" + strings.Join(in.Entities[selector], ",")
	}
	return text
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// play runs a script to its last line.
func (l *timeline) play(script string) {
	l.t.Helper()
	var want []string
	lines := bufio.NewScanner(strings.NewReader(script))
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		at, rest, _ := strings.Cut(text, " ")
		input, output, ok := strings.Cut(rest, "->")
		second, err := strconv.ParseInt(at, 10, 64)
		if !ok || err != nil {
			l.t.Fatalf("the script has the line %q", text)
		}
		input, output = strings.TrimSpace(input), strings.TrimSpace(output)
		l.advance(second)
		if input == "tick" {
			if output != "nothing" {
				want = append(want, at+" "+output)
			}
			continue
		}
		if got := l.process(result(l.t, input)); got != output {
			l.t.Errorf("%s: %s", text, got)
		}
	}
	l.advance(l.now + 1)
	if !slices.Equal(l.records, want) {
		l.t.Errorf("records:\n%s\nwant:\n%s", strings.Join(l.records, "\n"), strings.Join(want, "\n"))
	}
	l.records = nil
}
