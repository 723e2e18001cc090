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

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// sender is a row of the table of clients in docs/inputs.md. EVENT, EVENT2 and EVENT3
// stand for JSON objects, URL for the route, FILE for a file of three lines,
// PYTHON for an interpreter that has requests.
type sender struct {
	name, settings string
	contentType    string   // of its request
	body           string   // as its documentation shows it
	run            []string // the command, or of syslog-ng the source, the destination and what is read
	needs          *program // nil when no package has the client
	accepted       int      // lines; 0 for a refusal
	found          int      // events that match
	outcome        string   // what the table says
}

const (
	oneEach    = "each object is an event"
	noRequests = "import requests"
	urlEncoded = "application/x-www-form-urlencoded"
)

// program is a client, the Debian packages that it is from, and commands that say which
// of its paths has what the tests need.
type program struct {
	packages string
	paths    []string
	probe    []string // behind the path
}

var (
	python   = &program{"python3-requests", []string{"python3", "/usr/bin/python3"}, []string{"-c", noRequests}}
	curl     = &program{"curl", []string{"curl"}, []string{"--version"}}
	syslogNG = &program{"syslog-ng-core and syslog-ng-mod-http", []string{"syslog-ng"}, []string{"--version"}}
)

// path is empty where the program is not installed.
func (p *program) path() string {
	for _, path := range p.paths {
		if exec.Command(path, p.probe...).Run() == nil {
			return path
		}
	}
	return ""
}

// senders are the clients of the table, with their defaults first.
var senders = []sender{
	{
		"syslog-ng", "`http()`", urlEncoded, "user ran evil",
		[]string{"stdin();", `http(url("URL"));`, "<34>Oct 11 22:14:15 web01 app: user ran evil\n"},
		syslogNG, 1, 1,
		"each message is a line of text; when it is JSON, an event with its fields",
	},
	{
		"syslog-ng", "`http()` of messages that are JSON", urlEncoded, "EVENT",
		[]string{"stdin();", `http(url("URL"));`, "<34>Oct 11 22:14:15 web01 app: EVENT\n"},
		syslogNG, 1, 1, oneEach,
	},
	{
		"syslog-ng", "`d_sluice_lines` below, from a source with `flags(no-parse)`", urlEncoded, "EVENT\nEVENT2\nEVENT3",
		[]string{"stdin(flags(no-parse));", "d_sluice_lines", "EVENT\nEVENT2\nEVENT3\n"},
		syslogNG, 3, 3, oneEach,
	},
	{
		"syslog-ng", "`d_sluice_fields` below", urlEncoded,
		`[{"PROGRAM":"app","PRIORITY":"crit","MESSAGE":"user ran evil","ISODATE":"2026-10-11T22:14:15+00:00","HOST":"web01","FACILITY":"auth"},{"MESSAGE":"ls"}]`,
		[]string{"stdin();", "d_sluice_fields", "<34>Oct 11 22:14:15 web01 app: user ran evil\n<34>Oct 11 22:14:15 web01 app: ls\n"},
		syslogNG, 1, 1,
		"an event with the fields of the message: `MESSAGE`, `PROGRAM`, `HOST`, ...; a batch is one line, so it has 1 MiB at most",
	},
	{
		"rsyslog", "`omhttp`", "application/json; charset=utf-8",
		`{"message":"user ran evil","fromhost":"web01","facility":"auth","priority":"info","timereported":"2026-03-01T10:20:30.123456+00:00","timegenerated":"2026-03-01T10:20:30.123456+00:00"}`,
		nil, nil, 1, 1, "an event with the fields of the template `StdJSONFmt`: `message`, `fromhost`, ...",
	},
	{
		"rsyslog", "`omhttp` with a template of text and `httpcontenttype=\"text/plain\"`", "text/plain", "user ran evil", nil, nil, 1, 1,
		"each message is a line of text; without that type it is sent as JSON and is a parse error",
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
		[]string{"PYTHON", "-c", "import requests; print(requests.post('URL', json=[EVENT, EVENT2]).text)"},
		python, 2, 2, oneEach,
	},
	{
		"Python requests", "`post(url, data=json.dumps(event, indent=2))`", "", "EVENT",
		[]string{"PYTHON", "-c", "import requests, json; print(requests.post('URL', data=json.dumps(EVENT)).text)"},
		python, 1, 1,
		"without `indent` an event; with it one line of text for each line, which `svc_json_suspects_total` counts: use `json=`",
	},
	{
		"Python requests", "`post(url, data=open(\"events.ndjson\", \"rb\"))`", "", "EVENT\nEVENT2\nEVENT3\n",
		[]string{"PYTHON", "-c", "import requests; print(requests.post('URL', data=open('FILE', 'rb')).text)"},
		python, 3, 3, "each line is an event",
	},
	{
		"Python requests", "`post(url, files=...)`", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\nEVENT\r\n--x--\r\n",
		[]string{"PYTHON", "-c", "import requests; print(requests.post('URL', files={'f': open('FILE', 'rb')}).text)"},
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
	b.WriteString("| Client | Settings | Content type | What becomes of it | Tested with |\n|---|---|---|---|---|\n")
	for _, c := range senders {
		contentType, _, _ := strings.Cut(c.contentType, ";")
		if contentType == "" {
			contentType = "none"
		}
		with := "its documented body"
		if c.needs != nil {
			with = "the client"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.name, c.settings, contentType, c.outcome, with)
	}
	return b.String()
}

// Every row of the table, by the body that its documentation shows and by the client
// itself where a package has it.
func TestClientsAreUnderstoodOrRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", "title: A\ndetection: {fields: {C: evil}, words: ['user ran evil'], condition: fields or words}\n")
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--include-event")
	for _, c := range senders {
		for with, send := range map[string]func(*testing.T, *daemon) string{"body": c.sendBody, "client": c.runClient} {
			if with == "client" && c.needs == nil {
				continue
			}
			t.Run(c.name+" "+c.settings+" "+with, func(t *testing.T) {
				d.t = t
				before := len(d.stdout.lines())
				answer := send(t, d)
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
	}
	d.t = t
	if got := d.figures(); got.errors != 0 || got.suspects != 0 {
		t.Errorf("%d parse errors and %d suspects", got.errors, got.suspects)
	}
	d.stop()
}

// fill replaces what stands for events, the route and a file.
func (c *sender) fill(t *testing.T, d *daemon, text string) string {
	t.Helper()
	event := func(n int) string { return fmt.Sprintf(`{"C":"evil","client":"%s","n":%d}`, c.name, n) }
	return strings.NewReplacer("URL", "http://"+d.addr+"/api/v1/events?commit=true", "EVENT2", event(2), "EVENT3", event(3), "EVENT", event(1),
		"FILE", write(t, t.TempDir(), "events.ndjson", event(1)+"\n"+event(2)+"\n"+event(3)+"\n")).Replace(text)
}

// runClient sends the events with the client and returns the answer.
func (c *sender) runClient(t *testing.T, d *daemon) string {
	t.Helper()
	path := c.needs.path()
	sigmatest.Need(t, path != "", c.name+" is not installed: install "+c.needs.packages+" to run this test")
	if c.needs == syslogNG {
		return c.runSyslogNG(t, d, path)
	}
	args := slices.Clone(c.run)
	for i := range args {
		args[i] = c.fill(t, d, args[i])
	}
	got := finish(t, exec.Command(path, args[1:]...), "")
	if got.code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, got.code, got.stderr)
	}
	return got.stdout
}

// runSyslogNG has syslog-ng read messages on its stdin. Its destination is written out,
// or one of those in docs/inputs.md. It logs no answers, so the one that is returned is
// made of what the daemon counts.
func (c *sender) runSyslogNG(t *testing.T, d *daemon, path string) string {
	t.Helper()
	dir := t.TempDir()
	destination := "destination d { " + c.fill(t, d, c.run[1]) + " };\n"
	name := "d"
	if strings.HasPrefix(c.run[1], "d_") {
		name, destination = c.run[1], ""
		for _, f := range fences(t, "docs/inputs.md") {
			if f.info == "syslog-ng" && strings.Contains(f.text, " "+name+" ") {
				destination += strings.ReplaceAll(f.text, "127.0.0.1:9090", d.addr)
			}
		}
	}
	config := write(t, dir, "syslog-ng.conf", "@version: 3.38\nsource s { "+c.run[0]+" };\n"+destination+"log { source(s); destination("+name+"); };\n")
	in := func(name string) string { return filepath.Join(dir, name) }
	cmd := exec.Command(path, "-F", "-e", "--no-caps", "-f", config, "-R", in("persist"), "-c", in("ctl"), "-p", in("pid"))
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	messages := c.fill(t, d, c.run[2])
	processed, results := d.figures().processed, len(d.stdout.lines())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if _, err := stdin.Write([]byte(messages)); err != nil {
		t.Fatal(err)
	}
	want := strings.Count(messages, "\n")
	d.await("what syslog-ng sends", func() bool {
		return d.figures().processed-processed >= want && len(d.stdout.lines())-results >= c.found
	})
	if err := stdin.Close(); err != nil { // which ends it
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || d.figures().processed-processed != want {
		t.Errorf("%d events for %d messages; syslog-ng ended with %v:\n%s", d.figures().processed-processed, want, err, log.String())
	}
	return fmt.Sprintf(`{"accepted":%d}`, c.accepted)
}

// sendBody sends the documented body and returns the answer.
func (c *sender) sendBody(t *testing.T, d *daemon) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, c.fill(t, d, "URL"), strings.NewReader(c.fill(t, d, c.body)))
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
