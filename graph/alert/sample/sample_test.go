package sample

import (
	"bytes"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/native"
	"github.com/sluicehq/sluice/graph/selector"
)

const (
	bareDetection = `{"rule_title":"A","rule_id":"a-1","level":"high","tags":["t"],"custom_attributes":{"x":1},"enrichments":{"user":"bo","risk":{"score":7}},"matched_selections":["s"],"matched_fields":[{"field":"Port","value":443},{"field":"User","value":"bo"}]`
	bareFiring    = `{"rule_title":"C","rule_id":null,"level":null,"tags":[],"enrichments":{"user":null},"correlation_type":"event_count","group_key":[["User","bo"]],"aggregated_value":3,"timespan_secs":60`
	events        = `,"events":[{"a":1}]`
	refs          = `,"event_refs":[{"timestamp":5,"id":"x"}]`
)

func parse(t *testing.T, line string) *graph.Result {
	t.Helper()
	r, err := native.Parse([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSamplesHaveNoEvents(t *testing.T) {
	for _, tc := range []struct{ name, line, want string }{
		{"a detection with its event", bareDetection + `,"event":{"Port":443}}`, bareDetection + `}`},
		{"a detection without", bareDetection + `}`, bareDetection + `}`},
		{"a correlation with its events", bareFiring + events + `}`, bareFiring + `}`},
		{"a correlation with references", bareFiring + refs + `}`, bareFiring + `}`},
	} {
		r := parse(t, tc.line)
		whole := r.AppendNative(nil)
		if got := Append(nil, r); string(got) != tc.want {
			t.Errorf("%s: got\n%s, want\n%s", tc.name, got, tc.want)
		}
		if got := r.AppendNative(nil); !bytes.Equal(got, whole) {
			t.Errorf("%s: the result has changed to %s", tc.name, got)
		}
		shared := *r
		freed := Strip(&shared)
		if got := shared.AppendNative(nil); string(got) != tc.want {
			t.Errorf("%s: stripped to\n%s, want\n%s", tc.name, got, tc.want)
		}
		if got := r.AppendNative(nil); !bytes.Equal(got, whole) {
			t.Errorf("%s: what shares the parts has changed to %s", tc.name, got)
		}
		if (freed > 0) != (len(tc.line) > len(tc.want)) {
			t.Errorf("%s: %d bytes freed", tc.name, freed)
		}
		if again, err := Read(Append(nil, r)); err != nil || string(again.AppendNative(nil)) != tc.want {
			t.Errorf("%s: read back as %v, %v", tc.name, again, err)
		}
	}
}

func TestSelectorsReadSamplesAsTheyReadResults(t *testing.T) {
	for _, line := range []string{bareDetection + `,"event":{"Port":443}}`, bareFiring + events + `}`} {
		r := parse(t, line)
		from, err := Read(Append(nil, r))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"rule", "level", "match.Port", "match.User", "match.None", "enrichment.user", "enrichment.risk.score", "correlation.group_key.User"} {
			s, err := selector.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			want, there := s.AppendText(nil, r)
			if got, is := s.AppendText(nil, from); is != there || !bytes.Equal(got, want) {
				t.Errorf("%s of %s: got %q, %v of the sample, want %q, %v", text, line, got, is, want, there)
			}
		}
	}
}

func TestMembersAreSet(t *testing.T) {
	for _, tc := range []struct {
		name, object, want string
		replaced           bool
	}{
		{"in no object", ``, `{"id":"x"}`, false},
		{"in an empty object", `{}`, `{"id":"x"}`, false},
		{"behind others", `{"a":1,"b":{"id":2}}`, `{"a":1,"b":{"id":2},"id":"x"}`, false},
		{"in place of one", `{"a":1,"id":[1,2],"b":null}`, `{"a":1,"id":"x","b":null}`, true},
		{"in place of one with an escaped name", `{"\u0069d":1}`, `{"\u0069d":"x"}`, true},
	} {
		object := []byte(tc.object)
		got, replaced := With(object, "id", []byte(`"x"`))
		if string(got) != tc.want || replaced != tc.replaced {
			t.Errorf("%s: got %s, %v, want %s, %v", tc.name, got, replaced, tc.want, tc.replaced)
		}
		if string(object) != tc.object {
			t.Errorf("%s: the object has changed to %s", tc.name, object)
		}
	}
}
