package acceptance

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// sender is a row of the table of clients in docs/inputs.md. EVENT, EVENT2 and EVENT3
// stand for JSON objects, URL for the route, FILE for a file of three lines.
type sender struct {
	name, settings string
	contentType    string   // of its request
	body           string   // as its documentation shows it
	run            []string // how it is run where it is installed
	needs          []string // a command that says whether it is
	accepted       int      // lines; 0 for a refusal
	found          int      // events that match
	outcome        string   // what the table says
}

const (
	oneEach    = "each object is an event"
	noRequests = "import requests"
	urlEncoded = "application/x-www-form-urlencoded"
)

var (
	python = []string{"python3", "-c", noRequests}
	curl   = []string{"curl", "--version"}
)

// senders are the clients of the table, with their defaults first.
var senders = []sender{
	{
		"syslog-ng", "`http()`", urlEncoded, "user ran evil", nil, nil, 1, 1,
		"each message is a line of text; when it is JSON, an event with its fields",
	},
	{"syslog-ng", "`http()` of messages that are JSON", urlEncoded, "EVENT", nil, nil, 1, 1, oneEach},
	{
		"syslog-ng", "`batch-lines(100) body(\"$(format-json ...)\") body-prefix(\"[\") delimiter(\",\") body-suffix(\"]\")`", urlEncoded,
		"[EVENT,EVENT2]", nil, nil, 1, 2, oneEach + "; a batch is one line, so it has 1 MiB at most",
	},
	{
		"rsyslog", "`omhttp`", "application/json; charset=utf-8",
		`{"message":"user ran evil","fromhost":"web01","facility":"auth","priority":"info","timereported":"2026-03-01T10:20:30.123456+00:00","timegenerated":"2026-03-01T10:20:30.123456+00:00"}`,
		nil, nil, 1, 1, "an event with the fields of the template `StdJSONFmt`: `message`, `fromhost`, ...",
	},
	{"rsyslog", "`omhttp` with `batch=\"on\"`", "text/plain", "EVENT\nEVENT2", nil, nil, 2, 2, oneEach},
	{"rsyslog", "`omhttp` with `batch.format=\"jsonarray\"`", "application/json", "[EVENT, EVENT2]", nil, nil, 2, 2, oneEach},
	{
		"Fluent Bit", "`http`", "application/msgpack", "\x92\xd7\x00\x65\xa0\x00\x00\x00\x00\x00\x00\x81\xa1C\xa4evil", nil, nil, 0, 0,
		"refused with 415: MessagePack is not read, set `format json`",
	},
	{"Fluent Bit", "`http` with `format json`", "application/json", `[{"date":1772360430.5,"C":"evil"},{"date":1772360431.5,"C":"evil"}]`, nil, nil, 2, 2, oneEach},
	{"Fluent Bit", "`http` with `format json_stream`", "application/json", "EVENTEVENT2", nil, nil, 2, 2, oneEach},
	{"Fluent Bit", "`http` with `format json_lines`", "application/x-ndjson", "EVENT\nEVENT2\n", nil, nil, 2, 2, oneEach},
	{"Vector", "`http` with `encoding.codec = \"json\"`", "application/json", "[EVENT,EVENT2]", nil, nil, 2, 2, oneEach},
	{"Vector", "the same with `framing.method = \"newline_delimited\"`", "application/x-ndjson", "EVENT\nEVENT2\n", nil, nil, 2, 2, oneEach},
	{"Vector", "`http` with `encoding.codec = \"text\"`", "text/plain", "user ran evil\nuser ran ls\n", nil, nil, 2, 1, "each message is a line of text"},
	{"Logstash", "`http`", "application/json", "EVENT", nil, nil, 1, 1, oneEach},
	{"Logstash", "`http` with `format => \"json_batch\"`", "application/json", "[EVENT,EVENT2]", nil, nil, 2, 2, oneEach},
	{
		"Python requests", "`post(url, json=events)`", "application/json", "[EVENT, EVENT2]",
		[]string{"python3", "-c", "import requests; print(requests.post('URL', json=[EVENT, EVENT2]).text)"},
		python, 2, 2, oneEach,
	},
	{
		"Python requests", "`post(url, data=json.dumps(event, indent=2))`", "", "EVENT",
		[]string{"python3", "-c", "import requests, json; print(requests.post('URL', data=json.dumps(EVENT)).text)"},
		python, 1, 1,
		"without `indent` an event; with it one line of text for each line, which `svc_json_suspects_total` counts: use `json=`",
	},
	{
		"Python requests", "`post(url, data=open(\"events.ndjson\", \"rb\"))`", "", "EVENT\nEVENT2\nEVENT3\n",
		[]string{"python3", "-c", "import requests; print(requests.post('URL', data=open('FILE', 'rb')).text)"},
		python, 3, 3, "each line is an event",
	},
	{
		"Python requests", "`post(url, files=...)`", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\nEVENT\r\n--x--\r\n",
		[]string{"python3", "-c", "import requests; print(requests.post('URL', files={'f': open('FILE', 'rb')}).text)"},
		python, 0, 0,
		"refused with 415: send the file as the body, `data=`",
	},
	{"curl", "`-d '{...}'`", urlEncoded, "EVENT", []string{"curl", "-s", "-d", "EVENT", "URL"}, curl, 1, 1, oneEach},
	{"curl", "`--json '[...]'`", "application/json", "[EVENT,EVENT2]", []string{"curl", "-s", "-H", "Content-Type: application/json", "-d", "[EVENT,EVENT2]", "URL"}, curl, 2, 2, oneEach},
	{
		"curl", "`-d @events.ndjson`", urlEncoded, "EVENTEVENT2EVENT3",
		[]string{"curl", "-s", "-d", "@FILE", "URL"},
		curl, 1, 3,
		oneEach + ", but curl removes the line breaks: all are one line, so the file has 1 MiB at most, and text runs together. Use `--data-binary`",
	},
	{"curl", "`--data-binary @events.ndjson`", urlEncoded, "EVENT\nEVENT2\nEVENT3\n", []string{"curl", "-s", "--data-binary", "@FILE", "URL"}, curl, 3, 3, "each line is an event"},
	{
		"curl", "`-F file=@events.ndjson`", "multipart/form-data; boundary=x", "--x\r\n\r\nEVENT\r\n--x--\r\n",
		[]string{"curl", "-s", "-F", "file=@FILE", "URL"},
		curl, 0, 0, "refused with 415: use `--data-binary`",
	},
}

// clientsTable is the table in docs/inputs.md.
func clientsTable(*testing.T) string {
	var b strings.Builder
	b.WriteString("| Client | Settings | Content type | What becomes of it |\n|---|---|---|---|\n")
	for _, c := range senders {
		contentType, _, _ := strings.Cut(c.contentType, ";")
		if contentType == "" {
			contentType = "none"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.name, c.settings, contentType, c.outcome)
	}
	return b.String()
}

// Every row of the table: by the client where it is installed, else by the body that its
// documentation shows.
func TestClientsAreUnderstoodOrRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", "title: A\ndetection: {fields: {C: evil}, words: ['user ran evil'], condition: fields or words}\n")
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--include-event")
	for _, c := range senders {
		t.Run(c.name+" "+c.settings, func(t *testing.T) {
			d.t = t
			before := len(d.stdout.lines())
			answer := c.send(t, d)
			want := fmt.Sprintf(`{"accepted":%d}`, c.accepted)
			if c.accepted == 0 {
				want = `{"error":"unsupported content-type: `
			}
			if !strings.HasPrefix(answer, want) || c.accepted == 0 && !strings.Contains(answer, `"hint":"send `) {
				t.Errorf("answered %s, want %s", answer, want)
			}
			if got := len(d.stdout.lines()) - before; got != c.found {
				t.Errorf("%d results, want %d:\n%s", got, c.found, d.stdout)
			}
		})
	}
	d.t = t
	if got := d.figures(); got.errors != 0 || got.suspects != 0 {
		t.Errorf("%d parse errors and %d suspects", got.errors, got.suspects)
	}
	d.stop()
}

// send sends the events and returns the answer.
func (c *sender) send(t *testing.T, d *daemon) string {
	t.Helper()
	url := "http://" + d.addr + "/api/v1/events?commit=true"
	event := func(n int) string { return fmt.Sprintf(`{"C":"evil","client":"%s","n":%d}`, c.name, n) }
	fill := strings.NewReplacer("URL", url, "EVENT2", event(2), "EVENT3", event(3), "EVENT", event(1),
		"FILE", write(t, t.TempDir(), "events.ndjson", event(1)+"\n"+event(2)+"\n"+event(3)+"\n")).Replace
	if c.run != nil && exec.Command(c.needs[0], c.needs[1:]...).Run() == nil {
		args := slices.Clone(c.run)
		for i := range args {
			args[i] = fill(args[i])
		}
		got := finish(t, exec.Command(args[0], args[1:]...), "")
		if got.code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, got.code, got.stderr)
		}
		return got.stdout
	}
	if c.run != nil {
		t.Logf("%s is not installed: its documented body is sent", c.needs[0])
	}
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(fill(c.body)))
	if err != nil {
		t.Fatal(err)
	}
	if c.contentType != "" {
		req.Header.Set("Content-Type", c.contentType)
	}
	resp, err := (&http.Client{Timeout: patience + 10*time.Second}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
