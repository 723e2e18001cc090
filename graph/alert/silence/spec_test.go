package silence

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/selector"
	"github.com/sluicehq/sluice/internal/strict"
)

// text is an error's message.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// create reads a body as the API does.
func create(body string) (*Silence, error) {
	spec, err := Parse([]byte(body))
	if err != nil {
		return nil, err
	}
	spec.ID = "6f0c1a52-7d0e-4b77-9c1e-0a5a3f2b9d10"
	return Compile(spec, API, 1000)
}

func TestBodiesOfSilences(t *testing.T) {
	const one = `"matchers":[{"selector":"rule","value":"x"}]`
	for _, tc := range []struct{ name, body, want string }{
		{"one matcher without an op", `{` + one + `}`, ""},
		{"everything", ` {` + one + `,"starts_at":"2026-03-02T08:15:30Z","ends_at":"2026-03-02T10:15:31+02:00","created_by":"ann","comment":"why"} `, ""},
		{"members that are null", `{` + one + `,"starts_at":null,"ends_at":null,"created_by":null,"comment":null}`, ""},
		{"a value that is empty", `{"matchers":[{"selector":"match.User","op":"!=","value":""}]}`, ""},
		{"an end in the past", `{` + one + `,"ends_at":"1999-01-01T00:00:00Z"}`, ""},
		{"a matcher of 10,000 characters", `{"matchers":[{"selector":"rule","op":"=~","value":"` + strings.Repeat("a", 10_000) + `"}]}`, ""},

		{"no body", ``, "invalid silence JSON: the body is not a JSON object"},
		{"a list", `[{}]`, "invalid silence JSON: the body is not a JSON object"},
		{"a text", `"rule"`, "invalid silence JSON: the body is not a JSON object"},
		{"null", `null`, "invalid silence JSON: the body is not a JSON object"},
		{"half an object", `{` + one, "invalid silence JSON: the body is not a JSON object: EOF"},
		{"two objects", `{` + one + `}{}`, "invalid silence JSON: the body is more than one JSON object"},
		{"bytes that are no UTF-8", "{" + one + ",\"comment\":\"\xff\"}", "invalid silence JSON: the body is not UTF-8"},
		{"an unknown key", `{` + one + `,"colour":1}`, "invalid silence JSON: unknown key 'colour' (matchers, starts_at, ends_at, created_by, comment)"},
		{"a misspelt key", `{` + one + `,"end_at":"x"}`, "invalid silence JSON: unknown key 'end_at' (matchers, starts_at, ends_at, created_by, comment) (did you mean 'ends_at'?)"},
		{"a key in capitals", `{"Matchers":[]}`, "invalid silence JSON: unknown key 'Matchers' (matchers, starts_at, ends_at, created_by, comment) (did you mean 'matchers'?)"},
		{"an id", `{` + one + `,"id":"a"}`, "invalid silence JSON: unknown key 'id': the service gives the id"},
		{"a key twice", `{` + one + `,"comment":"a","comment":"b"}`, "invalid silence JSON: the key 'comment' stands there twice"},
		{"a number for a text", `{` + one + `,"comment":5}`, "invalid silence JSON: 'comment' must be a string"},
		{"a number for a time", `{` + one + `,"ends_at":1772438400}`, "invalid silence JSON: 'ends_at' must be a string"},
		{"an object of matchers", `{"matchers":{"selector":"rule","value":"x"}}`, "invalid silence JSON: 'matchers' must be a list of {selector, op, value}"},
		{"a text as matcher", `{"matchers":["rule=x"]}`, "invalid silence JSON: matchers[0]: a matcher is an object whose members selector, op and value are strings"},
		{"a number as value", `{"matchers":[{"selector":"match.Port","value":443}]}`, "invalid silence JSON: matchers[0]: a matcher is an object whose members selector, op and value are strings"},
		{"a matcher without a value", `{"matchers":[{"selector":"rule"}]}`, "invalid silence JSON: matchers[0]: the matcher of 'rule' needs a value"},
		{"a matcher with another key", `{"matchers":[{"selector":"rule","value":"x","is_regex":true}]}`, "invalid silence JSON: matchers[0]: a matcher has no key 'is_regex' (selector, op, value)"},
		{"an unknown op", `{"matchers":[{"selector":"rule","op":"~","value":"x"}]}`, "invalid silence JSON: matchers[0]: unknown op '~' (=, !=, =~, !~)"},
		{"an empty op", `{"matchers":[{"selector":"rule","op":"","value":"x"}]}`, "invalid silence JSON: matchers[0]: unknown op '' (=, !=, =~, !~)"},

		{"an empty object", `{}`, "matchers: a silence needs at least one"},
		{"no matchers", `{"matchers":[]}`, "matchers: a silence needs at least one"},
		{"matchers that are null", `{"matchers":null}`, "matchers: a silence needs at least one"},
		{"an unknown selector", `{"matchers":[{"selector":"bogus.x","value":"x"}]}`, "matchers[0]: unknown selector 'bogus.x' (rule, level, event.<path>, match.<field>, enrichment.<path>, correlation.group_key.<field>)"},
		{"an expression that is refused", `{"matchers":[{"selector":"rule","op":"=~","value":"("}]}`, "matchers[0]: matcher of 'rule': expression '(' cannot be used: error parsing regexp: missing closing ): `(`"},
		{"two faults", `{"matchers":[{"selector":"match.","value":"x"},{"selector":"rule","value":"x"},{"selector":"rule","op":"!~","value":"*"}]}`, "matchers[0]: selector 'match.' names nothing behind 'match.'; matchers[2]: matcher of 'rule': expression '*' cannot be used: error parsing regexp: missing argument to repetition operator: `*`"},
		{"a time in words", `{` + one + `,"starts_at":"soon"}`, "starts_at 'soon' is not a time of RFC 3339, such as 2026-03-02T08:15:00Z"},
		{"an empty time", `{` + one + `,"ends_at":""}`, "ends_at '' is not a time of RFC 3339, such as 2026-03-02T08:15:00Z"},
		{"a time without a zone", `{` + one + `,"ends_at":"2026-03-02T08:15:00"}`, "ends_at '2026-03-02T08:15:00' is not a time of RFC 3339, such as 2026-03-02T08:15:00Z"},
		{"a day that does not exist", `{` + one + `,"ends_at":"2026-02-30T08:15:00Z"}`, "ends_at '2026-02-30T08:15:00Z' is not a time of RFC 3339, such as 2026-03-02T08:15:00Z"},
		{"a time that has no text in UTC", `{` + one + `,"ends_at":"9999-12-31T23:59:59-01:00"}`, "ends_at '9999-12-31T23:59:59-01:00' lies outside the years 0000 to 9999 of UTC"},
		{"an end at the start", `{` + one + `,"starts_at":"2026-03-02T08:15:00Z","ends_at":"2026-03-02T08:15:00Z"}`, "ends_at '2026-03-02T08:15:00Z' must be later than starts_at '2026-03-02T08:15:00Z' in whole seconds"},
		{"an end before the start in another zone", `{` + one + `,"starts_at":"2026-03-02T08:15:00Z","ends_at":"2026-03-02T09:14:00+01:00"}`, "ends_at '2026-03-02T09:14:00+01:00' must be later than starts_at '2026-03-02T08:15:00Z' in whole seconds"},
		{"an end later in the second of the start", `{` + one + `,"starts_at":"2026-03-02T08:15:00.1Z","ends_at":"2026-03-02T08:15:00.9Z"}`, "ends_at '2026-03-02T08:15:00.9Z' must be later than starts_at '2026-03-02T08:15:00.1Z' in whole seconds"},
	} {
		if _, err := create(tc.body); text(err) != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

func TestSilencesAsTheyAreListed(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{
			"no op and no times", `{"matchers":[{"selector":"rule","value":"x"}]}`,
			`{"id":"6f0c1a52-7d0e-4b77-9c1e-0a5a3f2b9d10","matchers":[{"selector":"rule","op":"=","value":"x"}],"origin":"api","state":"active"}`,
		},
		{
			"a selector in canonical form, times in UTC and whole seconds, texts with markup",
			`{"comment":"<b>\"é\u001f</b>","created_by":"ann","ends_at":"2026-03-02T10:15:30.999+01:00","starts_at":"1969-12-31T23:59:58.500Z","matchers":[{"value":"a|b","op":"!~","selector":" event..a. "},{"selector":"level","value":"high"}]}`,
			`{"id":"6f0c1a52-7d0e-4b77-9c1e-0a5a3f2b9d10","matchers":[{"selector":"event.a","op":"!~","value":"a|b"},{"selector":"level","op":"=","value":"high"}],"starts_at":"1969-12-31T23:59:58Z","ends_at":"2026-03-02T09:15:30Z","created_by":"ann","comment":"<b>\"é\u001f</b>","origin":"api","state":"active"}`,
		},
	} {
		s, err := create(tc.body)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := s.AppendJSON([]byte("-"), 1000); string(got) != "-"+tc.want {
			t.Errorf("%s: got\n%s, want\n-%s", tc.name, got, tc.want)
		}
	}
}

func TestSilencesOfAConfiguration(t *testing.T) {
	read := func(yaml string) ([]*Silence, error) {
		root, err := strict.Read([]byte(yaml))
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Silences []Spec `yaml:"silences"`
		}
		if _, faults := strict.Decode(root, &file); len(faults) > 0 {
			return nil, fmt.Errorf("%d: %w", faults[0].Line, faults[0])
		}
		var all []*Silence
		for _, spec := range file.Silences {
			s, err := Compile(spec, Static, 0)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
		return all, NameStatics(all)
	}
	for _, tc := range []struct{ name, yaml, want string }{
		{"no matchers", "silences:\n  - comment: x\n", "matchers: a silence needs at least one"},
		{"an empty list of matchers", "silences:\n  - matchers: []\n", "matchers: a silence needs at least one"},
		{"an unknown key", "silences:\n  - matchers: [{selector: rule, value: x}]\n    colour: 1\n", "3: unknown key 'silences.colour'"},
		{"an unknown op", "silences:\n  - matchers: [{selector: rule, op: '~', value: x}]\n", "matchers[0]: matcher of 'rule': unknown op '~' (=, !=, =~, !~)"},
		{"a bad time", "silences:\n  - matchers: [{selector: rule, value: x}]\n    starts_at: soon\n", "starts_at 'soon' is not a time of RFC 3339, such as 2026-03-02T08:15:00Z"},
		{"one id twice", "silences:\n  - {id: a, matchers: [{selector: rule, value: x}]}\n  - {matchers: [{selector: rule, value: x}]}\n  - {id: a, matchers: [{selector: rule, value: y}]}\n", "silences[2] has the id 'a' of silences[0]: give each an id of its own"},
	} {
		if _, err := read(tc.yaml); text(err) != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}

	const file = `
silences:
  - matchers: [{selector: match.Port, value: 443}]
    starts_at: 2026-03-02T08:15:00Z
  - {id: mine, matchers: [{selector: rule, value: x}]}
  - matchers: [{selector: match.Port, op: "=", value: "443"}]
    starts_at: 2026-03-02T09:15:00+01:00
  - matchers: [{selector: match.Port, value: 443}]
    comment: "another"
  - matchers: [{selector: match.Port, value: 443}]
    starts_at: 2026-03-02T08:15:00Z
`
	all, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	// printf %s '{"matchers":[{"selector":"match.Port","op":"=","value":"443"}],"starts_at":"2026-03-02T08:15:00Z"}' | sha256sum
	const first, other = "static-876b0842b0fd668b", "static-2e9905cb8dc0e272"
	if got, want := strings.Join(ids, " "), strings.Join([]string{first, "mine", first + "-2", other, first + "-3"}, " "); got != want {
		t.Errorf("ids: got %s, want %s", got, want)
	}
	again, err := read(file)
	if err != nil || again[4].ID != all[4].ID {
		t.Errorf("read again: %s, %v, want %s", again[4].ID, err, all[4].ID)
	}
	if got := string(all[1].AppendJSON(nil, 0)); got != `{"id":"mine","matchers":[{"selector":"rule","op":"=","value":"x"}],"origin":"static","state":"active"}` {
		t.Errorf("listed as %s", got)
	}

	taken, err := read("silences:\n  - matchers: [{selector: rule, value: x}]\n")
	if err != nil {
		t.Fatal(err)
	}
	both, err := read("silences:\n  - {id: " + taken[0].ID + ", matchers: [{selector: rule, value: y}]}\n  - matchers: [{selector: rule, value: x}]\n")
	if err != nil || both[1].ID != taken[0].ID+"-2" {
		t.Errorf("an id that is taken: got %s, %v", both[1].ID, err)
	}
}

// What an operator writes is read back from what is listed.
func TestSpecsAreWrittenAsTheyAreRead(t *testing.T) {
	spec := Spec{Matchers: []selector.Condition{{Selector: "rule", Op: "=~", Value: "a.*"}}, EndsAt: "2026-03-02T08:15:00Z", Comment: "x"}
	body, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"matchers":[{"selector":"rule","op":"=~","value":"a.*"}],"ends_at":"2026-03-02T08:15:00Z","comment":"x"}`; string(body) != want {
		t.Errorf("got %s, want %s", body, want)
	}
	if again, err := Parse(body); err != nil || fmt.Sprint(again) != fmt.Sprint(spec) {
		t.Errorf("got %v, %v, want %v", again, err, spec)
	}
}

func FuzzBodies(f *testing.F) {
	for _, body := range []string{
		`{"matchers":[{"selector":"rule","value":"x"}]}`, `{"matchers":[{"selector":"event.a","op":"=~","value":"(?i)a+"}],"ends_at":"2026-03-02T08:15:00.5+01:00","comment":"\ud800"}`,
		`{"matchers":[]}`, `{"id":1}`, `[`, "{\"comment\":\"\xff\"}", `{"starts_at":"0000-01-01T00:00:00Z","matchers":[{"selector":"rule","op":"!=","value":""}]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := create(string(body))
		if err != nil {
			return
		}
		listed := s.AppendJSON(nil, 1000)
		if !json.Valid(listed) {
			t.Fatalf("%q is listed as %s", body, listed)
		}
		sameRow(t, s)
	})
}

func FuzzRows(f *testing.F) {
	f.Add([]byte(`{"id":"a","matchers":[{"selector":"rule","op":"=","value":"x"}],"starts_at":5,"ends_at":9,"created":1}`))
	f.Add([]byte(`{"id":"a","matchers":[{"selector":"","value":"x"}],"starts_at":-9223372036854775808}`))
	f.Add([]byte(`{"id":"a","matchers":null}`))
	f.Fuzz(func(t *testing.T, row []byte) {
		if s, err := FromRow(row); err == nil {
			sameRow(t, s)
		}
	})
}

// sameRow checks that a silence comes back from its row.
func sameRow(t *testing.T, s *Silence) {
	t.Helper()
	again, err := FromRow(s.Row())
	if err != nil {
		t.Fatalf("%s: %v", s.Row(), err)
	}
	for _, now := range []int64{0, s.StartsAt, s.EndsAt, s.EndsAt - 1} {
		if got, want := again.AppendJSON(nil, now), s.AppendJSON(nil, now); string(got) != string(want) {
			t.Fatalf("from its row\n%s, want\n%s", got, want)
		}
	}
	if again.Created != s.Created || string(again.Row()) != string(s.Row()) {
		t.Fatalf("stored again as %s, want %s", again.Row(), s.Row())
	}
}
