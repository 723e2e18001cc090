package reference_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
)

// Items that windows_evtx rewrote read an ordered list of paths.
func TestPlacesAreReadInOrder(t *testing.T) {
	id := []string{"Event.System.EventID", "Event.System.EventID.#text"}
	image := []string{"Event.EventData.Image", "Event.UserData.*.Image"}
	for _, tc := range []struct {
		name, sel string
		places    []string
		line      string
		fires     bool
		want      string
	}{
		{"the first path that is there", `{F: 1}`, id, `{"Event":{"System":{"EventID":1}}}`, true, `[{"field":"Event.System.EventID","value":1}]`},
		{
			"an object stands for its text", `{F: 1}`, id, `{"Event":{"System":{"EventID":{"#text":1,"#attributes":{}}}}}`, true,
			`[{"field":"Event.System.EventID.#text","value":1}]`,
		},
		{"an object without text is absent", `{F|exists: false}`, id, `{"Event":{"System":{"EventID":{"#attributes":{}}}}}`, true, `[]`},
		{
			"user data is searched behind event data", `{F: x}`, image, `{"Event":{"UserData":{"A":{"B":1},"C":{"Image":"X"}}}}`, true,
			`[{"field":"Event.UserData.*.Image","value":"X"}]`,
		},
		{"event data hides user data", `{F: x}`, image, `{"Event":{"EventData":{"Image":"y"},"UserData":{"C":{"Image":"x"}}}}`, false, ``},
		{
			"several hits are an array", `{F|contains: x}`, image, `{"Event":{"UserData":{"A":{"Image":"y"},"C":{"Image":"x"}}}}`, true,
			`[{"field":"Event.UserData.*.Image","value":["y","x"]}]`,
		},
		{"positions are no part of a path", `{F: x}`, image, `{"Event":[{"EventData":{"Image":[["x"]]}}]}`, true, `[{"field":"Event.EventData.Image","value":[["x"]]}]`},
		{
			"several objects stand for their texts", `{F: x}`, image, `{"Event":{"UserData":{"A":{"Image":{"#text":"y"}},"C":{"Image":{"#text":"x"}}}}}`, true,
			`[{"field":"Event.UserData.*.Image.#text","value":["y","x"]}]`,
		},
		{"null is asked once", `{F: null}`, image, `{"Event":{"UserData":{"C":{"Image":"x"}}}}`, false, ``},
		{"and holds when every path is absent", `{F: null}`, image, `{"Event":{"EventData":{}}}`, true, `[]`},
		{"neq wants a path that is there", `{F|neq: x}`, image, `{"Event":{}}`, false, ``},
	} {
		rules := rulesOf(t, "title: T\ndetection:\n  sel: "+tc.sel+"\n  condition: sel\n")
		rules[0].Detections[0].Node.Items[0].Paths = tc.places
		p := newPair(t, rules, reference.Options{})
		lines := p.e.Evaluate(reference.DecodeAuto([]byte(tc.line)), 0)
		p.judge(t, []byte(tc.line))
		want := `{"rule_title":"T","rule_id":null,"level":null,"tags":[],"matched_selections":["sel"],"matched_fields":` + tc.want + `}`
		switch {
		case len(lines) > 0 != tc.fires:
			t.Errorf("%s: fires %t, want %t", tc.name, len(lines) > 0, tc.fires)
		case tc.fires && string(lines[0]) != want:
			t.Errorf("%s: result is\n%s, want\n%s", tc.name, lines[0], want)
		}
	}
}

// A path with any key must be found below keys that other fields name.
func TestPlacesAndNamesShareKeys(t *testing.T) {
	rules := rulesOf(t, "title: T\ndetection:\n  sel: {F: x}\n  condition: sel\n---\ntitle: U\ndetection:\n  sel: {Event.UserData.C.Image: x}\n  condition: sel\n")
	rules[0].Detections[0].Node.Items[0].Paths = []string{"Event.EventData.Image", "Event.UserData.*.Image"}
	p := newPair(t, rules, reference.Options{})
	for _, line := range []string{
		`{"Event":{"UserData":{"C":{"Image":"x"}}}}`,
		`{"Event":{"UserData":{"D":{"Image":"x"}}}}`,
		`{"Event":{"UserData":{"D":{"Image":"y"},"C":{"Image":"x"}}}}`,
		`{"Event":{"UserData":{"C":{"Image":{"#text":"x"}}}}}`,
		`{"Event":{"UserData":{"C":{"Image":[1,"x"]},"D":{"Image":null}}}}`,
	} {
		p.judge(t, []byte(line))
	}
}
