package command

import (
	"regexp"
	"strings"
	"testing"
)

// What a daemon logs has its version and times taken out.
var volatile = regexp.MustCompile(`(\d{4}-\d\d-\d\dT[\d:.]+Z|"?version"?[=:]"?[^" ]+"?)`)

func TestTheFirstRecordSaysWhatStarts(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		args       []string
		want       string // the fields of the record
	}{
		{
			"flags alone", "",
			[]string{"-r", "rules", "--api-addr", "127.0.0.1:9090"},
			`"config":"none","rules":"rules","input":"stdin","sinks":"stdout","addr":"127.0.0.1:9090","tls":"off","authentication":"off"`,
		},
		{
			"a file and all there is", "daemon: {rules: [a, b.yml], pipelines: [sysmon], api: {addr: '127.0.0.1:1'}, input: {source: http}, " +
				"output: {sinks: [stdout, 'file:///tmp/x?on_full=drop'], dlq: 'file:///tmp/dead'}}",
			nil,
			`"config":"./sluice.yaml","rules":"a, b.yml","pipelines":"sysmon","input":"http","sinks":"stdout, file:///tmp/x?on_full=drop","dlq":"file:///tmp/dead","addr":"127.0.0.1:1","tls":"off","authentication":"off"`,
		},
		{
			"the file of an alert pipeline", "",
			[]string{"-r", "rules", "--api-addr", "127.0.0.1:1", "--alert-pipeline", "alerts.yml"},
			`"config":"none","rules":"rules","alert_pipeline":"alerts.yml","input":"stdin","sinks":"stdout","addr":"127.0.0.1:1","tls":"off","authentication":"off"`,
		},
		{
			"an empty list of sinks", "daemon: {rules: a, api: {addr: '127.0.0.1:1'}, output: {sinks: []}}", nil,
			`"config":"./sluice.yaml","rules":"a","input":"stdin","sinks":"stdout","addr":"127.0.0.1:1","tls":"off","authentication":"off"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "alerts.yml", "{}")
			if tc.file != "" {
				write(t, "sluice.yaml", tc.file)
			}
			got := sluiceWith(t, Program{Daemon: new(capture).run}, "", append([]string{"engine", "daemon"}, tc.args...)...)
			got.wantCode(t, 0)
			first, _, _ := strings.Cut(got.err, "\n")
			want := `{"timestamp":"*","level":"INFO","target":"sluice.server","fields":{"message":"starting",*,` + tc.want + `}}`
			if first = volatile.ReplaceAllString(first, "*"); first != want {
				t.Errorf("got\n%s\nwant\n%s", first, want)
			}
		})
	}
}

func TestTheLogOfADaemonOnATerminalIsText(t *testing.T) {
	const text, json = "* INFO sluice.server: starting *", `{"timestamp":"*"`
	for _, tc := range []struct {
		name, file string
		args       []string
		env        string // SLUICE_GLOBAL__LOG_FORMAT
		want       string // what the first line begins with
	}{
		{"when nobody chose", "", nil, "", text},
		{"when text was chosen", "", []string{"--log-format", "text"}, "", text},
		{"not when JSON was chosen", "", []string{"--log-format", "json"}, "", json},
		{"not when a file chose JSON", "global: {log_format: json}", nil, "", json},
		{"not when a variable chose JSON", "", nil, "json", json},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			if tc.file != "" {
				write(t, "sluice.yaml", tc.file)
			}
			if tc.env != "" {
				t.Setenv("SLUICE_GLOBAL__LOG_FORMAT", tc.env)
			}
			args := append([]string{"engine", "daemon", "-r", "rules", "--api-addr", "127.0.0.1:9090"}, tc.args...)
			code, shown := onTerminal(t, Program{Daemon: new(capture).run}, 80, args...)
			if shown = volatile.ReplaceAllString(shown, "*"); code != 0 || !strings.HasPrefix(strings.ReplaceAll(shown, "  ", " "), tc.want) {
				t.Errorf("exit code %d, want a line that begins with %q:\n%s", code, tc.want, shown)
			}
		})
	}
}
