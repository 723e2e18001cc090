package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/selector"
)

func compiled(s silence.Spec, o silence.Origin) *silence.Silence {
	x, err := silence.Compile(s, o, 0)
	if err != nil {
		panic(err)
	}
	return x
}

// completeSilences has a silence of the file with all members, and one of the API.
func completeSilences() *silence.Set {
	set := silence.NewSet()
	set.Add(compiled(silence.Spec{ID: "b", Matchers: []selector.Condition{{Selector: "rule", Value: "x"}}}, silence.API))
	set.Replace([]*silence.Silence{compiled(silence.Spec{
		ID: "7", Matchers: []selector.Condition{{Selector: " match.User ", Op: "=~", Value: "adm.*"}, {Selector: "level", Op: "!=", Value: "high"}},
		StartsAt: "1970-01-01T01:00:00.9+01:00", EndsAt: "1970-01-01T00:02:00Z", CreatedBy: "ann", Comment: "<why>",
	}, silence.Static)})
	return set
}

func TestSilences(t *testing.T) {
	const (
		path   = "/api/v1/silences"
		static = `{"id":"7","matchers":[{"selector":"match.User","op":"=~","value":"adm.*"},{"selector":"level","op":"!=","value":"high"}],` +
			`"starts_at":"1970-01-01T00:00:00Z","ends_at":"1970-01-01T00:02:00Z","created_by":"ann","comment":"<why>","origin":"static","state":"active"}`
		own    = `{"id":"b","matchers":[{"selector":"rule","op":"=","value":"x"}],"origin":"api","state":"active"}`
		one    = `{"matchers":[{"selector":"rule","value":"x"}]`
		made   = `{"status":"created","id":"made"}`
		listed = `{"id":"made","matchers":[{"selector":"rule","op":"=","value":"x"}]`
	)
	for _, tc := range []struct {
		row
		adapt func(*daemon)
		then  string // what is listed afterwards; nothing is looked at when it is empty
	}{
		{row{"those of the file first", "GET", path, "", 200, `{"count":2,"silences":[` + static + `,` + own + `]}`}, func(d *daemon) { d.silences = completeSilences() }, ""},
		{row{"none", "GET", path, "", 200, `{"count":0,"silences":[]}`}, nil, ""},
		{row{"a silence without times", "POST", path, one + `}`, 201, made}, nil, listed + `,"origin":"api","state":"active"}`},
		{row{"a silence that is to come", "POST", path, one + `,"starts_at":"1970-01-01T00:01:41Z"}`, 201, made}, nil, listed + `,"starts_at":"1970-01-01T00:01:41Z","origin":"api","state":"pending"}`},
		{row{"a silence that is over", "POST", path, one + `,"ends_at":"1970-01-01T00:01:40Z"}`, 201, made}, nil, listed + `,"ends_at":"1970-01-01T00:01:40Z","origin":"api","state":"expired"}`},
		{row{"one that mutes nothing", "POST", path, one + `}`, 201, `{"status":"created","id":"made","warning":"why \"x\""}`}, func(d *daemon) { d.warning = `why "x"` }, listed + `,"origin":"api","state":"active"}`},
		{row{"who and why", "POST", path, one + `,"created_by":"ann","comment":"x"}`, 201, made}, nil, listed + `,"created_by":"ann","comment":"x","origin":"api","state":"active"}`},
		{row{"no matcher", "POST", path, `{"matchers":[],"comment":"x"}`, 400, `~{"error":"matchers: a silence needs at least one"}`}, nil, ""},
		{row{"no matchers", "POST", path, `{}`, 400, `~{"error":"matchers: a silence needs at least one"}`}, nil, ""},
		{row{"an operator nobody knows", "POST", path, `{"matchers":[{"selector":"rule","op":"~","value":"x"}]}`, 400, `~invalid silence JSON`}, nil, ""},
		{row{"a selector nobody knows", "POST", path, `{"matchers":[{"selector":"bogus.x","value":"x"}]}`, 400, `~unknown selector 'bogus.x'`}, nil, ""},
		{row{"a bad expression", "POST", path, `{"matchers":[{"selector":"rule","op":"=~","value":"("}]}`, 400, `~expression '(' cannot be used`}, nil, ""},
		{row{"no time", "POST", path, one + `,"starts_at":"soon"}`, 400, `~starts_at 'soon'`}, nil, ""},
		{row{"an end at the start", "POST", path, one + `,"starts_at":"2026-03-02T08:15:00Z","ends_at":"2026-03-02T08:15:00Z"}`, 400, `~ends_at '2026-03-02T08:15:00Z' must be later than starts_at`}, nil, ""},
		{row{"an id", "POST", path, one + `,"id":"a"}`, 400, `~{"error":"invalid silence JSON: unknown key 'id'`}, nil, ""},
		{row{"an unknown key", "POST", path, one + `,"colour":1}`, 400, `~{"error":"invalid silence JSON: unknown key 'colour'`}, nil, ""},
		{row{"a wrong type", "POST", path, `{"matchers":1}`, 400, `~invalid silence JSON`}, nil, ""},
		{row{"a value that is no string", "POST", path, `{"matchers":[{"selector":"rule","value":1}]}`, 400, `~invalid silence JSON`}, nil, ""},
		{row{"no object", "POST", path, `[]`, 400, `~{"error":"invalid silence JSON: the body is not a JSON object"}`}, nil, ""},
		{row{"no JSON", "POST", path, `{"matchers"`, 400, `~invalid silence JSON`}, nil, ""},
		{row{"no body", "POST", path, ``, 400, `~invalid silence JSON`}, nil, ""},
		{row{"no UTF-8", "POST", path, "{\"comment\":\"\xff\"}", 400, `~invalid silence JSON`}, nil, ""},
		{row{"too many", "POST", path, one + `}`, 429, `~1000 silences`}, func(d *daemon) { d.noRoom = true }, ""},
		{row{"what is wrong comes before too many", "POST", path, `{}`, 400, `~at least one`}, func(d *daemon) { d.noRoom = true }, ""},
		{row{"too large", "POST", path, strings.Repeat(" ", maxBody+1), 413, `{"error":"request body exceeds maximum size","max_bytes":2097152}`}, nil, ""},
		{
			row{"a database that refuses", "POST", path, one + `}`, 503, `{"error":"silence could not be stored","hint":"The state database refused to write, and nothing has changed; the log has the details."}`},
			func(d *daemon) { d.changeErr = fmt.Errorf("%w: secret path", alert.ErrNotStored) }, "",
		},
		{row{"deleting", "DELETE", path + "/b", "", 200, `{"status":"deleted","id":"b"}`}, func(d *daemon) { d.silences = completeSilences() }, static},
		{row{"deleting one of the file", "DELETE", path + "/7", "", 200, `{"status":"deleted","id":"7"}`}, func(d *daemon) { d.silences = completeSilences() }, own},
		{row{"deleting what is not there", "DELETE", path + "/none", "", 404, `{"error":"no such silence","id":"none"}`}, nil, ""},
		{row{"an id is decoded once", "DELETE", path + "/a%2Fb%2520", "", 404, `{"error":"no such silence","id":"a/b%20"}`}, nil, ""},
		{
			row{"a database that does not delete", "DELETE", path + "/b", "", 503, `~{"error":"silence could not be stored","hint":"`},
			func(d *daemon) { d.silences, d.changeErr = completeSilences(), alert.ErrNotStored }, static + `,` + own,
		},
		{row{"another method", "PUT", path, "", 405, `{"error":"method not allowed"}`}, nil, ""},
		{row{"one silence cannot be asked for", "GET", path + "/b", "", 405, `{"error":"method not allowed"}`}, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &daemon{silences: silence.NewSet()}
			if tc.adapt != nil {
				tc.adapt(d)
			}
			s := start(t, d).everything(d)
			tc.check(t, s, "Content-Type", "image/png") // which nobody looks at
			if tc.then == "" {
				return
			}
			got := s.do(t, "GET", path, "")
			if want := `"silences":[` + tc.then + `]}`; !strings.HasSuffix(got.body, want) {
				t.Errorf("then got %s, want %s", got.body, want)
			}
		})
	}
}

func TestSilencesOfAnActorThatDoesNotAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want row
	}{
		"it is full":    {&mailbox.Refusal{Actor: "alert", Reason: mailbox.ErrFull}, row{"", "", "", "", 503, `~Too many requests wait for this actor`}},
		"it is busy":    {&mailbox.Refusal{Actor: "alert", Reason: mailbox.ErrTimeout}, row{"", "", "", "", 503, `~busy or restarting`}},
		"another fault": {errors.New("secret"), row{"", "", "", "", 500, `{"error":"internal error"}`}},
	} {
		for _, ask := range []row{
			{"list", "GET", "/api/v1/silences", "", 0, ""},
			{"add", "POST", "/api/v1/silences", `{"matchers":[{"selector":"rule","value":"x"}]}`, 0, ""},
			{"delete", "DELETE", "/api/v1/silences/x", "", 0, ""},
		} {
			t.Run(name+"/"+ask.name, func(t *testing.T) {
				d := &daemon{askErr: tc.err, silences: silence.NewSet()}
				ask.status, ask.want = tc.want.status, tc.want.want
				ask.check(t, start(t, d).everything(d))
			})
		}
	}
}

func TestTenThousandSilencesAreListed(t *testing.T) {
	set := silence.NewSet()
	for i := range 10_000 {
		set.Add(compiled(silence.Spec{ID: fmt.Sprint(i), Matchers: []selector.Condition{{Selector: "match.User", Value: fmt.Sprint(i)}}}, silence.API))
	}
	d := &daemon{silences: set}
	got := start(t, d).everything(d).do(t, "GET", "/api/v1/silences", "")
	var list silenceList
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || list.Count != 10_000 || len(list.Silences) != 10_000 || list.Silences[9_999].ID != "9999" {
		t.Errorf("got %d of %d, %v", len(list.Silences), list.Count, err)
	}
}
