package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	twoSilences = `{"count":2,"silences":[` + firstSilence + `,` + secondSilence + `]}` + "\n"

	firstSilence = `{"id":"a","matchers":[{"selector":"rule","op":"=","value":"x"},{"selector":"match.User","op":"=~","value":"adm.*"}],` +
		`"starts_at":"2026-01-01T00:00:00Z","ends_at":"2126-01-01T00:00:00Z","created_by":"ann","comment":"pentest","origin":"api","state":"active"}`
	secondSilence = `{"id":"b","matchers":[{"selector":"level","op":"=","value":"low"}],"origin":"static","state":"active"}`
)

// asked is a daemon that keeps what it was asked for.
type asked struct {
	requests []string // method, path and body
	refuse   string   // the method that is refused
	room     int      // silences that may be made; 0 for any number
	made     int      // silences
	warning  string   // of silences that are made
	rules    string   // that it has; empty if it does not tell them
}

func (a *asked) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.requests = append(a.requests, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	if r.Method == http.MethodPost {
		a.made++
	}
	if r.Method == a.refuse || a.room > 0 && a.made > a.room {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"error":"there are 1000 silences already"}`)
		return
	}
	text, ok := map[string]string{
		"GET /api/v1/silences": twoSilences, "GET /api/v1/incidents": `{"count":1,"incidents":[` + oneIncidentJSON + `]}`,
		"GET /api/v1/incidents/x": oneIncidentJSON, "GET /api/v1/incidents/graph": graphIncidentJSON,
		"POST /api/v1/silences": fmt.Sprintf(`{"status":"created","id":"%c"}`, 'b'+a.made), "DELETE /api/v1/silences/a": `{"status":"deleted","id":"a"}`,
		"DELETE /api/v1/silences/b": `{"status":"deleted","id":"b"}`, "GET /api/v1/incidents/x/bundle": "# Incident\x1b[2J\n",
	}[r.Method+" "+r.URL.Path]
	if r.URL.Path == ruleListPath && a.rules != "" {
		text, ok = fmt.Sprintf(`{"items":[%s],"total":5}`, a.rules), true
	}
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		text = `{"error":"not there","hint":"look elsewhere"}`
	}
	if a.warning != "" && r.Method == http.MethodPost {
		text = fmt.Sprintf(`{"status":"created","id":"c","warning":%q}`, a.warning)
	}
	_, _ = io.WriteString(w, text)
}

const resultLine = `{"rule_title":"T","rule_id":"rule-1","level":"high","tags":[],"matched_selections":["sel"],"matched_fields":[{"field":"User","value":"a\"b"},{"field":"Port","value":443}]}` + "\n"

func TestSilenceAdd(t *testing.T) {
	inEmptyDir(t)
	write(t, "result.ndjson", "\n"+resultLine+resultLine)
	write(t, "upper.ndjson", `{"rule_title":"U","correlation_type":"event_count","level":"low","tags":[],"group_key":[["User","ann"]],"aggregated_value":2,"timespan_secs":60}`+"\n")
	for _, tc := range []struct {
		name string
		args []string
		body string // without created_by and times
		says []string
	}{
		{
			"matchers as people write them",
			[]string{"rule=x", `match.User=~"adm.*"`, "level!=low", `match.Path!~C:\\Users.*`, `match.Text="a \"b\" \\ \d"`},
			`{"matchers":[{"selector":"rule","op":"=","value":"x"},{"selector":"match.User","op":"=~","value":"adm.*"},{"selector":"level","op":"!=","value":"low"},` +
				`{"selector":"match.Path","op":"!~","value":"C:\\\\Users.*"},{"selector":"match.Text","op":"=","value":"a \"b\" \\ \\d"}]}`,
			[]string{`silence c mutes results: rule="x", match.User=~"adm.*", level!="low"`, "warning: it has no end (sluice silence expire c ends it)"},
		},
		{"a value that begins as an operator does", []string{`match.User="=x"`}, `{"matchers":[{"selector":"match.User","op":"=","value":"=x"}]}`, nil},
		{"an empty value", []string{"match.User="}, `{"matchers":[{"selector":"match.User","op":"=","value":""}]}`, nil},
		{"a comment", []string{"rule=x", "--comment", "why"}, `{"matchers":[{"selector":"rule","op":"=","value":"x"}],"comment":"why"}`, nil},
		{"the rule of a result", []string{"--result", "result.ndjson"}, `{"matchers":[{"selector":"rule","op":"=","value":"rule-1"}]}`, nil},
		{
			"with fields that matched",
			[]string{"--result", "result.ndjson", "--match", "User", "--match", "match.Port", "--match", "level"},
			`{"matchers":[{"selector":"rule","op":"=","value":"rule-1"},{"selector":"match.User","op":"=","value":"a\"b"},{"selector":"match.Port","op":"=","value":"443"},{"selector":"level","op":"=","value":"high"}]}`, nil,
		},
		{"from standard input, with a matcher", []string{"level=high", "--result", "-"}, `{"matchers":[{"selector":"level","op":"=","value":"high"},{"selector":"rule","op":"=","value":"rule-1"}]}`, nil},
		{
			"an incident of a group",
			[]string{"--incident", "x"},
			`{"matchers":[{"selector":"match.User","op":"=","value":"alice"},{"selector":"match.Port","op":"=","value":"443"},{"selector":"enrichment.host","op":"=","value":""}]}`,
			[]string{"mutes results with the values by which the incident is grouped, whatever their rule: "},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			daemon := new(asked)
			got := sluice(t, resultLine, append([]string{"silence", "add", "--created-by=", "--addr", api(t, daemon.answer)}, tc.args...)...)
			got.wantCode(t, 0)
			got.wantErr(t, tc.says...)
			if want := "POST /api/v1/silences " + tc.body; len(daemon.requests) == 0 || daemon.requests[len(daemon.requests)-1] != want {
				t.Errorf("got %q, want %s", daemon.requests, want)
			}
			if got.out != `{"status":"created","id":"c"}`+"\n" {
				t.Errorf("got %q", got.out)
			}
		})
	}
}

// A silence of a rule that is not there mutes nothing, and nobody would see it.
func TestASilenceOfARuleThatIsNotThereIsDoubted(t *testing.T) {
	inEmptyDir(t)
	const rules = `{"id":"r-1","title":"Login"},{"title":"Nameless"},{"id":"r-10","title":"Login From Afar"},{"id":"r-2","title":"Twice"},{"id":"r-3","title":"Twice"}`
	for _, tc := range []struct {
		name, matcher string
		says          string // empty for nothing
	}{
		{"the id of a rule", "rule=r-1", ""},
		{"the title of a rule without an id", "rule=Nameless", ""},
		{"the title of a rule with an id", "rule=Login", `warning: no rule has the id "Login", which is a title: write rule=r-1`},
		{"the title of two rules", "rule=Twice", `warning: no rule has the id "Twice", which is a title: write rule=r-2 or rule=r-3`},
		{"a part of an id", "rule=r", `warning: no rule has the id "r" (sluice engine rules lists them)`},
		{"an expression", "rule=~Login", ""},
		{"another operator", "rule!=Login", ""},
		{"another selector", "level=Login", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			daemon := &asked{rules: rules}
			got := sluice(t, "", "silence", "add", tc.matcher, "--for", "1h", "--addr", api(t, daemon.answer))
			got.wantCode(t, 0)
			got.wantErr(t, tc.says)
			if tc.says == "" && strings.Contains(got.err, "warning") {
				t.Errorf("got %s, want no warning", got.err)
			}
			if want := `{"status":"created","id":"c"}` + "\n"; got.out != want {
				t.Errorf("got %q, want %q", got.out, want)
			}
		})
	}
	t.Run("a daemon that does not tell its rules", func(t *testing.T) {
		got := sluice(t, "", "silence", "add", "rule=Login", "--for", "1h", "--addr", api(t, new(asked).answer))
		got.wantCode(t, 0)
		if strings.Contains(got.err, "warning") {
			t.Errorf("got %s, want no warning", got.err)
		}
	})
}

func TestAnIncidentOfTheGraphHasASilenceForEachSelector(t *testing.T) {
	inEmptyDir(t)
	const (
		byIP   = `POST /api/v1/silences {"matchers":[{"selector":"level","op":"=","value":"low"},{"selector":"rule","op":"=~","value":"r\\+1|r2"},{"selector":"match.Ip","op":"=~","value":"10\\.0\\.0\\.1|10\\.0\\.0\\.2"}]}`
		byUser = `POST /api/v1/silences {"matchers":[{"selector":"level","op":"=","value":"low"},{"selector":"rule","op":"=~","value":"r\\+1|r2"},{"selector":"match.User","op":"=","value":"alice"}]}`
	)
	args := []string{"silence", "add", "--incident", "graph", "level=low", "--created-by=", "--addr"}
	daemon := new(asked)
	got := sluice(t, "", append(args, api(t, daemon.answer))...)
	got.wantCode(t, 0)
	if want := []string{"GET /api/v1/incidents/graph", byIP, byUser}; !slices.Equal(daemon.requests, want) {
		t.Errorf("got %q, want %q", daemon.requests, want)
	}
	got.wantErr(t,
		`silence c mutes results of the rules of the incident with 2 values of match.Ip: level="low", rule=~"r\\+1|r2", match.Ip=~"10\\.0\\.0\\.1|10\\.0\\.0\\.2"`,
		`silence d mutes results of the rules of the incident with 1 value of match.User: level="low", rule=~"r\\+1|r2", match.User="alice"`,
	)
	if want := `{"status":"created","id":"c"}` + "\n" + `{"status":"created","id":"d"}` + "\n"; got.out != want {
		t.Errorf("got %q, want %q", got.out, want)
	}

	full := &asked{room: 1}
	got = sluice(t, "", append(args, api(t, full.answer))...)
	got.wantCode(t, 3)
	got.wantErr(t, "silence c mutes ", "1 of the 2 silences of the incident are made, as is told above: ", "there are 1000 silences already")
	if want := `{"status":"created","id":"c"}` + "\n"; got.out != want {
		t.Errorf("got %q, want %q", got.out, want)
	}
}

func TestASilenceThatMutesNothingIsNotSaidToMute(t *testing.T) {
	inEmptyDir(t)
	for _, args := range []string{"add rule=x --for 1h", "extend a --for 1h"} {
		daemon := &asked{warning: "no alert pipeline is configured"}
		got := sluice(t, "", append(strings.Fields("silence "+args), "--addr", api(t, daemon.answer))...)
		got.wantCode(t, 0)
		got.wantErr(t, "warning: no alert pipeline is configured\n")
		if strings.Contains(got.err, "mutes") || !strings.Contains(got.out, `"warning":"no alert pipeline is configured"`) {
			t.Errorf("%s: got %q with %q", args, got.out, got.err)
		}
	}
}

func TestASilenceHasTheTimesOfItsFlags(t *testing.T) {
	inEmptyDir(t)
	for _, tc := range []struct {
		name       string
		args       string
		start, end time.Duration // from now; -1 for none
	}{
		{"for a span", "--for 2h", -1, 2 * time.Hour},
		{"from a span on", "--from 1h --for 30m", time.Hour, 90 * time.Minute},
		{"until a span from now on", "--until 1d", -1, 24 * time.Hour},
		{"from on without an end", "--from 1h", time.Hour, -1},
	} {
		daemon := new(asked)
		before := time.Now().Truncate(time.Second)
		got := sluice(t, "", append(strings.Fields("silence add rule=x "+tc.args), "--addr", api(t, daemon.answer))...)
		got.wantCode(t, 0)
		after := time.Now()
		var sent struct {
			StartsAt  string `json:"starts_at"`
			EndsAt    string `json:"ends_at"`
			CreatedBy string `json:"created_by"`
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(daemon.requests[len(daemon.requests)-1], "POST /api/v1/silences ")), &sent); err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]time.Duration{sent.StartsAt: tc.start, sent.EndsAt: tc.end} {
			if text == "" {
				continue
			}
			if at, err := time.Parse(time.RFC3339, text); err != nil || at.Before(before.Add(want)) || at.After(after.Add(want)) {
				t.Errorf("%s: got %s, want %s from %s on", tc.name, text, want, before)
			}
		}
		if (sent.StartsAt == "") != (tc.start < 0) || (sent.EndsAt == "") != (tc.end < 0) || sent.CreatedBy != userName() {
			t.Errorf("%s: got %+v", tc.name, sent)
		}
	}
	daemon := new(asked)
	sluice(t, "", "silence", "add", "rule=x", "--from", "2125-01-01T00:00:00+01:00", "--until", "2126-01-01T00:00:00Z", "--created-by", "ann", "--addr", api(t, daemon.answer)).wantCode(t, 0)
	if want := `"starts_at":"2124-12-31T23:00:00Z","ends_at":"2126-01-01T00:00:00Z","created_by":"ann"}`; !strings.HasSuffix(daemon.requests[len(daemon.requests)-1], want) {
		t.Errorf("got %s, want %s", daemon.requests[len(daemon.requests)-1], want)
	}
}

func TestSilenceFaults(t *testing.T) {
	inEmptyDir(t)
	write(t, "result.ndjson", resultLine)
	write(t, "upper.ndjson", upperLine)
	write(t, "blank.ndjson", "\n \n")
	write(t, "event.ndjson", `{"a":1}`+"\n")
	for _, tc := range []struct{ name, args, want string }{
		{"no matcher", "add", `a silence needs a matcher, such as rule=RULE or 'match.User=~"adm.*"', or --incident or --result`},
		{"no operator", "add rule", `"rule" is no matcher: it has no =, !=, =~ or !~`},
		{"half an operator", "add rule!x", `"rule!x" is no matcher: an operator is one of =, !=, =~ and !~`},
		{"the operator of programs", "add rule==x", `"rule==x" is no matcher: an operator is one of =, !=, =~ and !~ (a value that begins with = stands in quotes)`},
		{"the operator of other programs", "add rule!==x", `"rule!==x" is no matcher: an operator is one of =, !=, =~ and !~`},
		{"an unknown selector", "add user=x", `"user=x" is no matcher: unknown selector 'user'`},
		{"a bad expression", "add rule=~(", "expression '(' cannot be used"},
		{"a quote that does not end", `add rule="x`, "its value has no quote at the end"},
		{"text behind quotes", `add rule="x"y`, "something stands behind the quotes: y"},
		{"a span that is none", "add rule=x --for soon", `--for: "soon" is no span of a second or more`},
		{"a span of nothing", "add rule=x --for 0", `--for: "0" is no span of a second or more`},
		{"two ends", "add rule=x --for 1h --until 2h", "--for and --until both say when it ends: leave one out"},
		{"a time that is none", "add rule=x --until soon", `--until: "soon" is neither a time`},
		{"a start that is none", "add rule=x --from soon", `--from: "soon" is neither a time`},
		{"an end that is over", "add rule=x --until 2020-01-01T00:00:00Z", "the silence would end at 2020-01-01T00:00:00Z, which is over"},
		{"an end before the start", "add rule=x --from 2h --until 1h", "the silence would end at "},
		{"no such file", "add --result none", "--result: open none: no such file"},
		{"no result", "add --result blank.ndjson", "--result: blank.ndjson holds no result"},
		{"another line", "add --result event.ndjson", "--result: the line holds neither a detection nor a correlation"},
		{"a field that did not match", "add --result result.ndjson --match Computer", "--result: the result has no match.Computer (it has Port, User)"},
		{"a field that is no group-by field", "add --result upper.ndjson --match Computer", "--result: the result has no correlation.group_key.Computer (it has User)"},
		{"a field of nothing", "add rule=x --match User", "--match names fields of the result of --result"},
		{"no such incident", "add --incident none", "404 Not Found: not there (look elsewhere)"},
		{"no id to expire", "expire", "name the silence by its id (sluice silence list shows them)"},
		{"no such silence to expire", "expire none", "404 Not Found: not there (look elsewhere)"},
		{"no id to extend", "extend --for 1h", "name one silence by its id"},
		{"two ids to extend", "extend a b --for 1h", "name one silence by its id"},
		{"no such silence to extend", "extend none --for 1h", `there is no silence "none" (sluice silence list shows them)`},
		{"no new end", "extend a", "say for how much longer with --for, or until when with --until"},
		{"a silence without an end", "extend b --for 1h", "the silence b has no end that could be later"},
		{"an end that is no later", "extend a --until 1h", "is no later than its end, 2126-01-01T00:00:00Z"},
		{"an argument for a list", "list x", `silence list takes no argument, got "x"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			daemon := new(asked)
			got := sluice(t, "", append(strings.Fields("silence "+tc.args), "--addr", api(t, daemon.answer))...)
			got.wantCode(t, 3)
			got.wantErr(t, tc.want)
			for _, r := range daemon.requests {
				if strings.HasPrefix(r, "POST") {
					t.Errorf("a silence was made: %s", r)
				}
			}
		})
	}
}

const upperLine = `{"rule_title":"U","rule_id":"upper","level":"low","tags":[],"correlation_type":"event_count","group_key":[["User","ann"]],"aggregated_value":2.0,"timespan_secs":60}` + "\n"

func TestAResultOfACorrelationIsSilencedByItsGroup(t *testing.T) {
	inEmptyDir(t)
	daemon := new(asked)
	got := sluice(t, upperLine, "silence", "add", "--result", "-", "--match", "User", "--created-by=", "--addr", api(t, daemon.answer))
	got.wantCode(t, 0)
	if want := `POST /api/v1/silences {"matchers":[{"selector":"rule","op":"=","value":"upper"},{"selector":"correlation.group_key.User","op":"=","value":"ann"}]}`; daemon.requests[0] != want {
		t.Errorf("got %s, want %s", daemon.requests[0], want)
	}
}

func TestSilencesAreListed(t *testing.T) {
	inEmptyDir(t)
	addr := api(t, new(asked).answer)
	for format, want := range map[string]string{
		"":     firstSilence + "\n" + secondSilence + "\n",
		"json": firstSilence + "\n" + secondSilence + "\n",
		"csv": "STATE,ID,STARTS,ENDS,ORIGIN,CREATED BY,MATCHERS,COMMENT\n" +
			`active,a,2026-01-01T00:00:00Z,2126-01-01T00:00:00Z,api,ann,"rule=""x"", match.User=~""adm.*""",pentest` + "\n" + `active,b,,,static,,"level=""low""",` + "\n",
		"table": "STATE   ID  STARTS                ENDS                  ORIGIN  CREATED BY  MATCHERS                       COMMENT\n" +
			"------  --  --------------------  --------------------  ------  ----------  -----------------------------  -------\n" +
			"active  a   2026-01-01T00:00:00Z  2126-01-01T00:00:00Z  api     ann         rule=\"x\", match.User=~\"adm.*\"  pentest\n" +
			"active  b                                               static              level=\"low\"\n",
	} {
		args := []string{"silence", "list", "--addr", addr}
		if format != "" {
			args = append(args, "--output-format", format)
		}
		if got := sluice(t, "", args...); got.code != 0 || got.out != want || got.err != "" {
			t.Errorf("%s: got %q with %q, want %q", format, got.out, got.err, want)
		}
	}
}

func TestSilencesExpire(t *testing.T) {
	inEmptyDir(t)
	daemon := new(asked)
	got := sluice(t, "", "silence", "expire", "a", "none", "b", "--addr", api(t, daemon.answer))
	got.wantCode(t, 3)
	got.wantErr(t, "/api/v1/silences/none: 404 Not Found: not there (look elsewhere) (sluice silence list shows them)\n")
	if want := `{"status":"deleted","id":"a"}` + "\n" + `{"status":"deleted","id":"b"}` + "\n"; got.out != want {
		t.Errorf("got %q, want %q", got.out, want)
	}
}

// The new silence is there before the old one is gone.
func TestASilenceIsExtendedWithoutAGap(t *testing.T) {
	inEmptyDir(t)
	daemon := new(asked)
	got := sluice(t, "", "silence", "extend", "a", "--for", "1h", "--addr", api(t, daemon.answer))
	got.wantCode(t, 0)
	got.wantErr(t, "silence c takes the place of a and ends at 2126-01-01T01:00:00Z")
	want := []string{
		"GET /api/v1/silences",
		`POST /api/v1/silences {"matchers":[{"selector":"rule","op":"=","value":"x"},{"selector":"match.User","op":"=~","value":"adm.*"}],` +
			`"starts_at":"2026-01-01T00:00:00Z","ends_at":"2126-01-01T01:00:00Z","created_by":"ann","comment":"pentest"}`,
		"DELETE /api/v1/silences/a",
	}
	if strings.Join(daemon.requests, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", daemon.requests, want)
	}
	refusing := &asked{refuse: "POST"}
	got = sluice(t, "", "silence", "extend", "a", "--until", "2126-01-02T00:00:00Z", "--addr", api(t, refusing.answer))
	got.wantCode(t, 3)
	got.wantErr(t, "429 Too Many Requests: there are 1000 silences already")
	if len(refusing.requests) != 2 {
		t.Errorf("got %q, want nothing behind the refusal", refusing.requests)
	}
	stuck := &asked{refuse: "DELETE"}
	got = sluice(t, "", "silence", "extend", "a", "--for", "1h", "--addr", api(t, stuck.answer))
	got.wantCode(t, 3)
	got.wantErr(t, "silence c ends at 2126-01-01T01:00:00Z and takes the place of a, which is still there")
}
