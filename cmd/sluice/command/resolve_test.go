package command

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const (
	listsPipeline = "vars: {bad: '${source.good}', worse: 'x-${source.json.k}'}\ntransformations: [{type: value_placeholders}]\n"
	listsSources  = `sources:
  - {id: good, type: file, format: lines, path: list.txt, refresh: watch}
  - {id: json, type: file, format: json, path: a.json, refresh: 1500ms, required: false}
  - {id: gone, type: file, format: json, path: none.json, on_error: use_default, default: {k: [1, null]}}
  - {id: lost, type: file, format: json, path: none.json}
`
)

func writeLists(t *testing.T) {
	t.Helper()
	inEmptyDir(t)
	write(t, "p.yml", listsPipeline)
	write(t, "plain.yml", "transformations: []\n")
	write(t, "inline.yml", "sources: []\n")
	write(t, "s.yml", listsSources)
	write(t, "twice/a.yml", "sources: [{id: good, type: file, format: lines, path: list.txt}]\n")
	write(t, "twice/b.yml", "sources: [{id: good, type: file, format: lines, path: list.txt}]\n")
	write(t, "one.yml", "sources: [{id: good, type: file, format: lines, path: list.txt}]\n")
	write(t, "optional.yml", "sources:\n  - {id: good, type: file, format: lines, path: list.txt}\n  - {id: json, type: file, format: json, path: none.json, required: false}\n")
	write(t, "empty/readme.txt", "")
	write(t, "list.txt", "mal\n<evil>\n")
	write(t, "a.json", `{"k":"v"}`)
}

func TestPipelineResolve(t *testing.T) {
	writeLists(t)
	const (
		good = `{"pipeline":"external:s.yml","source_id":"good","status":"ok","data":["mal","<evil>"]}`
		json = `{"pipeline":"external:s.yml","source_id":"json","status":"ok","data":{"k":"v"}}`
		gone = `{"pipeline":"external:s.yml","source_id":"gone","status":"ok","data":{"k":[1,null]}}`
		lost = `{"pipeline":"external:s.yml","source_id":"lost","status":"error","error":"source 'lost': fetch failed: failed to read none.json: no such file or directory"}`

		none = `{"pipeline":"external:optional.yml","source_id":"json","status":"ok","data":null}`

		noneWarning = "warning: source 'json': fetch failed: failed to read none.json: no such file or directory (it counts as null)\n"
		goneWarning = "warning: source 'gone': fetch failed: failed to read none.json: no such file or directory (its default counts)\n"
	)
	for _, tc := range []struct {
		name, args string
		code       int
		out        string
		err        string // all of it when it has line ends
	}{
		{"all, of which one fails", "-p p.yml --source-file s.yml", 1, "[" + good + "," + json + "," + gone + "," + lost + "]\n", goneWarning},
		{"one is no list", "-p p.yml --source-file s.yml -s good", 0, good + "\n", ""},
		{"a default counts", "-p p.yml --source-file s.yml -s gone", 0, gone + "\n", goneWarning},
		{"one that fails", "-p p.yml --source-file s.yml --source lost", 1, lost + "\n", ""},
		{"an optional one without a value is null, as it is in the daemon", "-p p.yml --source-file optional.yml", 0, "[" + strings.ReplaceAll(good, "s.yml", "optional.yml") + "," + none + "]\n", noneWarning},
		{"the same as a row", "-p p.yml --source-file optional.yml -s json --output-format csv", 0, "PIPELINE,SOURCE_ID,SOURCE_TYPE,STATUS,DATA_OR_ERROR\nexternal:optional.yml,json,File,ok,null\n", noneWarning},
		{"indented", "-p p.yml --source-file s.yml -s json --pretty", 0, "{\n  \"pipeline\": \"external:s.yml\",\n  \"source_id\": \"json\",\n  \"status\": \"ok\",\n  \"data\": {\n    \"k\": \"v\"\n  }\n}\n", ""},
		{"a row is a bare object", "-p p.yml --source-file s.yml -s json --output-format json", 0, `{"pipeline":"external:s.yml","source_id":"json","source_type":"File","status":"ok","data_or_error":"{\"k\":\"v\"}"}` + "\n", ""},
		{"a row a line", "-p p.yml --source-file s.yml -s json --output-format ndjson", 0, `{"pipeline":"external:s.yml","source_id":"json","source_type":"File","status":"ok","data_or_error":"{\"k\":\"v\"}"}` + "\n", ""},
		{
			"rows of a table", "-p p.yml --source-file s.yml --output-format csv", 1, "PIPELINE,SOURCE_ID,SOURCE_TYPE,STATUS,DATA_OR_ERROR\n" +
				`external:s.yml,good,File,ok,"[""mal"",""<evil>""]"` + "\n" + `external:s.yml,json,File,ok,"{""k"":""v""}"` + "\n" + `external:s.yml,gone,File,ok,"{""k"":[1,null]}"` + "\n" +
				"external:s.yml,lost,File,error,source 'lost': fetch failed: failed to read none.json: no such file or directory\n", goneWarning,
		},
		{
			"nothing is fetched", "-p p.yml --source-file s.yml --dry-run", 0, `[{"pipeline":"external:s.yml","source_id":"good","source_type":"File","required":true,"refresh":"Watch"},` +
				`{"pipeline":"external:s.yml","source_id":"json","source_type":"File","required":false,"refresh":"Interval(1.5s)"},` +
				`{"pipeline":"external:s.yml","source_id":"gone","source_type":"File","required":true,"refresh":"Once"},{"pipeline":"external:s.yml","source_id":"lost","source_type":"File","required":true,"refresh":"Once"}]` + "\n", "",
		},
		{"rows of what is not fetched", "-p p.yml --source-file s.yml --dry-run -s lost --output-format tsv", 0, "PIPELINE\tSOURCE_ID\tSOURCE_TYPE\tSTATUS\tDATA_OR_ERROR\nexternal:s.yml\tlost\tFile\tpending\t\n", ""},
		{"rows of what is not fetched, as JSON", "-p p.yml --source-file s.yml --dry-run -s lost --output-format json", 0, `{"pipeline":"external:s.yml","source_id":"lost","source_type":"File","status":"pending","data_or_error":""}` + "\n", ""},
		{"a pipeline without references", "-p plain.yml -p sysmon --source-file one.yml --dry-run", 0, `{"pipeline":"external:one.yml","source_id":"good","source_type":"File","required":true,"refresh":"Once"}` + "\n", "note: pipeline plain.yml refers to no dynamic source\nnote: pipeline sysmon refers to no dynamic source\n"},
		{"a reference that nobody declares", "-p p.yml --source-file one.yml --dry-run", 0, `{"pipeline":"external:one.yml","source_id":"good","source_type":"File","required":true,"refresh":"Once"}` + "\n", "warning: pipeline references undeclared source(s): json\n"},
		{"no source with the id", "-p p.yml --source-file s.yml -s nope", 2, "", "sluice: No sources matched the filter.\n"},
		{"a file in the place of an id", "-p p.yml --source s.yml", 2, "", "warning: pipeline references undeclared source(s): good, json\nsluice: No dynamic sources found in the provided pipelines or source files. --source takes the id of a source; name a file of declarations with --source-file.\n"},
		{"a path in the place of an id", "-p p.yml --source-file one.yml --source empty/s", 2, "", "warning: pipeline references undeclared source(s): json\nsluice: No sources matched the filter. --source takes the id of a source; name a file of declarations with --source-file.\n"},
		{"no file of sources", "-p plain.yml", 2, "", "No dynamic sources found in the provided pipelines or source files."},
		{"a directory without sources", "-p plain.yml --source-file empty", 2, "", "No dynamic sources found in the provided pipelines or source files."},
		{"an inline block", "-p inline.yml --source-file s.yml", 2, "", "sluice rule migrate-sources -p"},
		{"a pipeline that is not there", "-p none.yml --source-file s.yml", 2, "", "Error loading pipeline none.yml: cannot read pipeline file"},
		{"no pipeline", "--source-file s.yml", 3, "", "no pipeline is named (--pipeline)"},
		{"a file of sources that is not there", "-p p.yml --source-file none.yml", 3, "", "Error loading external sources: cannot read sources file: "},
		{"an id twice", "-p p.yml --source-file twice", 3, "", "Source ID collision: source ID 'good' declared in both external:twice/a.yml and external:twice/b.yml"},
		{"an argument", "-p p.yml x", 3, "", "takes no argument"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := sluice(t, "", append([]string{"pipeline", "resolve"}, strings.Fields(tc.args)...)...)
			got.wantCode(t, tc.code)
			if got.out != tc.out {
				t.Errorf("got  %s\nwant %s", got.out, tc.out)
			}
			if strings.HasSuffix(tc.err, "\n") && got.err != tc.err || !strings.Contains(got.err, tc.err) || tc.err == "" && got.err != "" {
				t.Errorf("stderr %q, want %q", got.err, tc.err)
			}
		})
	}
}

// The environment and the settings of the daemon say how to log in to NATS.
func TestPipelineResolveChecksTheLoginOfNATS(t *testing.T) {
	writeLists(t)
	got := sluice(t, "", "pipeline", "resolve", "-p", "p.yml", "--source-file", "one.yml", "--nats-tls-cert", "only.pem")
	got.wantCode(t, 3)
	got.wantErr(t, "--nats-tls-key")
}

// The policy of the daemon, from its flag or its settings, says what may be fetched.
func TestCommandsFetchWhatTheEgressPolicyAllows(t *testing.T) {
	writeLists(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `["mal"]`) }))
	t.Cleanup(srv.Close)
	write(t, "near.yml", "sources: [{id: good, type: http, format: json, url: '"+srv.URL+"'}]\n")
	write(t, "near.pipeline.yml", "vars: {bad: '${source.good}'}\ntransformations: [{type: value_placeholders}]\n")
	write(t, "strict.yml", "daemon: {engine: {egress_policy: strict}}\n")
	write(t, "odd.yml", "daemon:\n  engine: {egress_policy: strickt}\n")
	write(t, "r/a.yml", ruleOfValues)
	const denied = "source 'good': fetch failed: egress policy denied loopback address 127.0.0.1"
	for _, command := range []struct {
		args   string
		failed int
	}{
		{"pipeline resolve -p near.pipeline.yml --source-file near.yml", 1},
		{"rule validate r -p near.pipeline.yml --source near.yml --resolve-sources", 3},
	} {
		for _, tc := range []struct {
			name, args string
			code       int
			said       string
		}{
			{"the default policy", "", 0, ""},
			{"the policy of the flag", "--egress-policy strict", command.failed, denied},
			{"the policy of the configuration", "--config strict.yml", command.failed, denied},
			{"the flag before the configuration", "--config strict.yml --egress-policy default", 0, ""},
			{"a policy in the flag that there is not", "--egress-policy strickt", 3, "--egress-policy: unknown egress policy 'strickt'"},
			{"a policy in the configuration that there is not", "--config odd.yml", 3, "odd.yml:2: daemon.engine.egress_policy: unknown egress policy 'strickt'"},
		} {
			t.Run(command.args[:13]+": "+tc.name, func(t *testing.T) {
				got := sluice(t, "", strings.Fields(command.args+" "+tc.args)...)
				got.wantCode(t, tc.code)
				if said := got.out + got.err; !strings.Contains(said, tc.said) {
					t.Errorf("got %s, want %s", said, tc.said)
				}
			})
		}
	}
}

const ruleOfValues = "title: Bad\nlogsource: {product: x}\ndetection: {s: {CommandLine|contains: '%bad%'}, condition: s}\n"

func TestRuleValidateWithSources(t *testing.T) {
	writeLists(t)
	write(t, "r/a.yml", ruleOfValues)
	write(t, "one.yml", "vars: {bad: '${source.good}'}\ntransformations: [{type: value_placeholders}]\n")
	write(t, "ok.yml", "sources:\n  - {id: good, type: file, format: lines, path: list.txt}\n  - {id: json, type: file, format: json, path: none.json, required: false}\n")
	write(t, "lost.yml", "sources:\n  - {id: good, type: file, format: lines, path: list.txt}\n  - {id: lost, type: file, format: json, path: none.json}\n  - {id: json, type: command, format: json, command: [sh, -c, 'exit 3']}\n")
	write(t, "include.yml", "transformations: [{include: '${source.good}'}]\n")
	write(t, "remote.yml", "sources: [{id: good, type: nats, format: json, url: 'nats://127.0.0.1:1', subject: x, on_error: use_default, default: []}]\n")
	write(t, "remote.conf", "daemon: {engine: {allow_remote_include: true}}\n")
	write(t, "regex.yml", "sources: [{id: good, type: file, format: json, path: regex.json}]\n")
	write(t, "regex.json", `["("]`)
	write(t, "re/a.yml", strings.Replace(ruleOfValues, "|contains", "|re", 1))
	const figures = "detection rules:   1\ncorrelation rules: 0\nfilter rules:      0\nparse errors:      0\ncompiled:          1\ncompile errors:    0\n"
	withoutRules := strings.NewReplacer("compiled:          1", "compiled:          0", "compile errors:    0", "compile errors:    1").Replace(figures)
	for _, tc := range []struct {
		name, args string
		code       int
		out        string
		err        []string
	}{
		{"values are fetched", "r -p one.yml --source ok.yml --resolve-sources", 0, figures + "Sources resolved:  OK\n", []string{"warning: source 'json': fetch failed: failed to read none.json: no such file or directory (it counts as null)\n"}},
		{"values are null where nothing came", "r -p p.yml --source ok.yml --resolve-sources", 0, figures + "Sources resolved:  OK\n", []string{"(it counts as null)"}},
		{"files are checked alone, and rules without values", "r -p one.yml --source ok.yml", 2, withoutRules, []string{"its dynamic sources are not resolved here", "unresolved source placeholder in detection value: ${source.good}"}},
		{"nothing is fetched when files are checked alone", "r --source lost.yml", 0, figures, nil},
		{"no sources, and none are needed", "r --resolve-sources", 0, figures + "Sources resolved:  OK\n", nil},
		{"as JSON there is nothing more to say", "r -p one.yml --source ok.yml --resolve-sources --output-format json", 0, `{"detection_rules":1,"correlation_rules":0,"filter_rules":0,"parse_errors":0,"compiled":1,"compile_errors":0,"problems":[]}` + "\n", nil},
		{
			"every required source that fails", "r -p one.yml --source lost.yml --resolve-sources", 3, "",
			[]string{"sluice: Source resolution errors:\nsluice: source 'lost': fetch failed: failed to read none.json: no such file or directory\nsluice: source 'json': fetch failed: command exited with exit status 3\n"},
		},
		{"a reference that nobody declares", "r -p one.yml --resolve-sources", 3, "", []string{"sluice: Source resolution errors:\nsluice: pipeline references undeclared source(s): good\n"}},
		{"an include that is none", "r -p include.yml --source ok.yml --resolve-sources", 3, "", []string{"Source resolution errors:\n", "include.yml: ", "include parse error: "}},
		{"a remote include", "r -p include.yml --source remote.yml --resolve-sources", 3, "", []string{"Source resolution errors:\n", "--allow-remote-include"}},
		{"a remote include that is allowed", "r -p include.yml --source remote.yml --resolve-sources --allow-remote-include", 0, figures + "Sources resolved:  OK\n", []string{"(its default counts)"}},
		{"a remote include that the configuration allows", "r -p include.yml --source remote.yml --resolve-sources --config remote.conf", 0, figures + "Sources resolved:  OK\n", []string{"(its default counts)"}},
		{"a file that does not load", "r --source none.yml", 3, "", []string{"sluice: Source resolution errors:\nsluice: Error loading external sources: cannot read sources file: "}},
		{"ids that collide", "r --source twice --resolve-sources", 3, "", []string{"Source resolution errors:\n", "Source ID collision: "}},
		{"rules are checked with the values", "re -p one.yml --source regex.yml --resolve-sources", 2, withoutRules + "Sources resolved:  OK\n", []string{"invalid regex"}},
		{"a pipeline that is not there", "r -p none.yml --source ok.yml --resolve-sources", 3, "", []string{"sluice: Error loading pipeline none.yml: "}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := sluice(t, "", append([]string{"rule", "validate"}, strings.Fields(tc.args)...)...)
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.err...)
			if got.out != tc.out {
				t.Errorf("got  %s\nwant %s", got.out, tc.out)
			}
		})
	}
}
