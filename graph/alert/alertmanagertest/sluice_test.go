package alertmanagertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/native"
	"github.com/sluicehq/sluice/internal/plural"
)

// sluice is the pipeline, with a tick behind the results of each second.
type sluice struct {
	t        *testing.T
	line     *timeline
	pipeline *alert.Pipeline
	outcome
	heard map[string]bool
}

// zero is the second in which timelines begin, which is that of virtual time, too.
var zero = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// runSluice has the pipeline go through a timeline.
func runSluice(t *testing.T, l *timeline) *outcome {
	t.Helper()
	s := &sluice{t: t, line: l, heard: map[string]bool{}}
	f, _, faults := alert.Parse(s.file())
	if f == nil {
		t.Fatalf("%s: %v", s.file(), faults)
	}
	s.pipeline = alert.New(f, alert.Options{NewID: func() string { return "I" }})
	now := 0
	for _, st := range l.steps {
		for ; now < st.at; now++ {
			s.tick(now)
		}
		switch st.verb {
		case "fire":
			s.fire(st)
		case "silence":
			s.ask(st.at, "silence "+st.name, s.silence(st))
		case "delete":
			s.ask(st.at, "delete "+st.name, s.delete(st))
		}
	}
	s.tick(now)
	s.mute(l, s.heard)
	return &s.outcome
}

// selectorOf is what reads a label.
func selectorOf(label string) string {
	if label == "rule" || label == "level" {
		return label
	}
	return "match." + label
}

func selectors(labels []string) []string {
	var all []string
	for _, name := range labels {
		all = append(all, selectorOf(name))
	}
	return all
}

func (s *sluice) conditions(all []matcher) []any {
	var set []any
	for _, m := range all {
		set = append(set, map[string]string{"selector": selectorOf(m.label), "op": m.op, "value": m.value})
	}
	return set
}

// file is the file of the pipeline. JSON is YAML.
func (s *sluice) file() []byte {
	type section = map[string]any
	l := s.line
	span := func(seconds int) string { return fmt.Sprintf("%ds", seconds) }
	f := section{}
	if l.by != nil {
		group := section{
			"by": selectors(l.by), "group_wait": span(l.wait), "group_interval": span(l.interval),
			"repeat_interval": span(l.repeat), "resolve_timeout": span(l.resolve),
		}
		if l.groups > 0 {
			group["caps"] = section{"max_open_incidents": l.groups}
		}
		f["group"] = group
	}
	if l.fold {
		f["dedup"] = section{"fingerprint": selectors([]string{"rule", "level", "ip", "user"}), "resolve_timeout": span(l.resolve)}
	}
	var rules []section
	for _, r := range l.inhibit {
		rules = append(rules, section{
			"source_match": s.conditions(matchers(s.t, r.source)), "target_match": s.conditions(matchers(s.t, r.target)),
			"equal": selectors(strings.Fields(r.equal)), "duration": span(l.resolve),
		})
	}
	if rules != nil {
		f["inhibit_rules"] = rules
	}
	text, err := json.Marshal(f)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

func (s *sluice) fire(st step) {
	rule, level := "a-rule", "null"
	fields := []any{}
	for _, name := range slices.Sorted(maps.Keys(st.labels)) {
		switch value := st.labels[name]; name {
		case "rule":
			rule = value
		case "level":
			level = fmt.Sprintf("%q", value)
		default:
			fields = append(fields, map[string]string{"field": name, "value": value})
		}
	}
	list, err := json.Marshal(fields)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := native.Parse(fmt.Appendf(nil, `{"rule_title":%q,"rule_id":%q,"level":%s,"tags":[],"matched_selections":["sel"],"matched_fields":%s}`, rule, rule, level, list))
	if err != nil {
		s.t.Fatal(err)
	}
	set := graph.ResultSet{Results: []graph.Result{*r}}
	o := s.pipeline.Process(&set, zero+int64(st.at))
	switch {
	case len(set.Results) > 0:
		s.heard[st.name] = true
		s.say(st.at, st.name+" passes")
	case len(o.Inhibited) > 0:
		s.say(st.at, st.name+" is inhibited")
	case o.Silenced > 0:
		s.say(st.at, st.name+" is silenced")
	case o.Folded > 0:
		s.say(st.at, st.name+" is folded")
	}
}

func (s *sluice) tick(now int) {
	s.pipeline.Tick(zero+int64(now), func(r graph.Record) {
		var in struct {
			ID      string `json:"incident_id"`
			Trigger string `json:"trigger"`
			Results int    `json:"result_count"`
			Alert   struct {
				State string `json:"dedup_state"`
				Count int    `json:"dedup_fire_count"`
			} `json:"enrichments"`
		}
		if err := json.Unmarshal(r.AppendNative(nil), &in); err != nil {
			s.t.Fatal(err)
		}
		if in.ID == "" {
			s.say(now, fmt.Sprintf("`%s` of an alert, fired %d times", in.Alert.State, in.Alert.Count))
			return
		}
		s.tell(now, in.Results, in.Trigger == "resolved", fmt.Sprintf("`%s`, %s", in.Trigger, plural.Of(in.Results, "result")))
	})
}

func (s *sluice) silence(st step) string {
	body := map[string]any{"matchers": s.conditions(st.matchers), "created_by": "somebody", "comment": "a reason"}
	at := func(second int) string { return time.Unix(zero+int64(second), 0).UTC().Format(time.RFC3339) }
	if st.begins {
		body["starts_at"] = at(st.starts)
	}
	if st.limits {
		body["ends_at"] = at(st.ends)
	}
	if st.id != "" {
		body["id"] = st.id
	}
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	spec, err := silence.Parse(text)
	if err != nil {
		return "is refused"
	}
	spec.ID = st.name
	made, err := silence.Compile(spec, silence.API, zero+int64(st.at))
	if err != nil {
		return "is refused"
	}
	s.pipeline.Silences().Add(made)
	answer := "is made"
	if st.begins {
		answer += fmt.Sprintf(", begins at %d s", made.StartsAt-zero)
	}
	return answer + s.listed(st.at)
}

func (s *sluice) delete(st step) string {
	if !s.pipeline.Silences().Remove(st.name) {
		return "is refused"
	}
	return "is done" + s.listed(st.at)
}

func (s *sluice) listed(at int) string {
	states := make(map[string]int)
	for _, one := range s.pipeline.Silences().List() {
		states[string(one.State(zero+int64(at)))]++
	}
	return list(states)
}
