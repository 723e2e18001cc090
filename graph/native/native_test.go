package native_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/native"
)

const (
	head        = `{"rule_title":"A \"b\" <c>","rule_id":"r-1","level":"high","tags":["attack.t1110","x"]`
	bare        = `{"rule_title":"T","rule_id":null,"level":null,"tags":[],"matched_selections":[],"matched_fields":[]}`
	correlation = `,"correlation_type":"value_sum","group_key":[["User","bob"],["Host",""]],"aggregated_value":1.5e+30,"timespan_secs":300`
)

func TestALineIsReadAsItWasWritten(t *testing.T) {
	for name, line := range map[string]string{
		"a detection with nothing": bare,
		"a detection with all": head + `,"timestamp":"2024-07-10T12:30:00Z","custom_attributes":{"b":{"a":[true,"x"],"z":null},"score":7.10},"enrichments":{"risk.score":40},` +
			`"matched_selections":["img","kw"],"matched_fields":[{"field":"Image","value":"C:\\PS.exe","selection":"img","matcher":"endswith","pattern":"\\ps.exe","case_sensitive":false,"negated":true},` +
			`{"field":"n","value":1.50},{"field":"o","value":{"a":[null]}}],"event":{"a":123456789012345678901,"b":"\u2028"}}`,
		"a correlation":                 head + correlation + "}",
		"a correlation with events":     head + `,"timestamp":"2026-03-01T10:00:20Z"` + correlation + `,"events":[{"a":1},{"b":[2]}]}`,
		"a correlation with references": head + `,"enrichments":{"a":{}}` + correlation + `,"event_refs":[{"timestamp":1772359200,"id":"e-1"},{"timestamp":1}]}`,
		"a correlation without a group": `{"rule_title":"T","rule_id":null,"level":null,"tags":[],"correlation_type":"temporal","group_key":[],"aggregated_value":2,"timespan_secs":1,"events":[],"event_refs":[]}`,
	} {
		r, err := native.Parse([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(r.AppendNative(nil)); got != line {
			t.Errorf("%s\n got %s\nwant %s", name, got, line)
		}
	}
}

func TestBlanksDoNotCount(t *testing.T) {
	line := head + `,"matched_selections":[],"matched_fields":[{"field":"n","value":{"a":[1,2]}}],"event":{"a":"b c"}}`
	r, err := native.Parse([]byte(strings.NewReplacer(`,"`, ",\n \"", `":{"a"`, `" : { "a"`, "[1,2]", "[1 , 2]").Replace(line)))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.AppendNative(nil)); got != line {
		t.Errorf("got %s\nwant %s", got, line)
	}
}

func TestWhatIsNoResult(t *testing.T) {
	for line, want := range map[string]string{
		`{"incident_id":"i","state":"open"}`:  native.ErrNoResult.Error(),
		`[]`:                                  "the line is no result: json: cannot unmarshal array",
		`{"rule_title":5}`:                    "the line is no result: json: cannot unmarshal number",
		`{"rule_title":"T","level":"hihg"}`:   "the line is no result: ",
		`{"rule_title":"T","enrichments":[]}`: "the line is no result: enrichments are no object",
		`{"rule_title":"T","correlation_type":"value_mode"}`:               "the line is no result: unknown correlation_type 'value_mode'",
		`{"rule_title":"T","matched_fields":[{"field":"n"}]}`:              "the line is no result: matched_fields[0] has no value",
		`{"rule_title":"T","timestamp":"yesterday"}`:                       "the line is no result: ",
		`{"rule_title":"T","correlation_type":"temporal","group_key":[1]}`: "the line is no result: ",
	} {
		r, err := native.Parse([]byte(line))
		if r != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v and %v, want %s", line, r, err, want)
		}
		if (want == native.ErrNoResult.Error()) != errors.Is(err, native.ErrNoResult) {
			t.Errorf("%s: the error %v is of another kind", line, err)
		}
	}
}

// Whatever a line holds, it is refused or read as it would be written.
func FuzzParse(f *testing.F) {
	f.Add(bare)
	f.Add(head + correlation + `,"events":[{"a":1}]}`)
	f.Fuzz(func(t *testing.T, line string) {
		r, err := native.Parse([]byte(line))
		if err != nil {
			return
		}
		once := string(r.AppendNative(nil))
		again, err := native.Parse([]byte(once))
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice := string(again.AppendNative(nil)); twice != once {
			t.Errorf("got %s\nthen %s", once, twice)
		}
	})
}
