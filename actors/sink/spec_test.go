package sink

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/ocsf"
	"github.com/sluicehq/sluice/graph/step"
)

func TestParseSpec(t *testing.T) {
	for _, tc := range []struct {
		name     string
		text     string
		role     Role
		want     Spec
		warnings int
		err      string
	}{
		{"the bare name", "stdout", RoleFindings, Spec{Kind: KindStdout}, 0, ""},
		{"the name as a scheme", "stdout://", RoleFindings, Spec{Kind: KindStdout}, 0, ""},
		{"an absolute path", "file:///abs/x", RoleFindings, Spec{Kind: KindFile, Target: "/abs/x"}, 0, ""},
		{"a relative path", "file://rel/x", RoleFindings, Spec{Kind: KindFile, Target: "rel/x"}, 0, ""},
		{"nothing is percent-decoded", "file:///a%20b", RoleFindings, Spec{Kind: KindFile, Target: "/a%20b"}, 0, ""},
		{"drop", "stdout?on_full=drop", RoleFindings, Spec{Kind: KindStdout, OnFull: Drop}, 0, ""},
		{"the default format in words", "stdout?format=ndjson&on_full=block", RoleFindings, Spec{Kind: KindStdout}, 0, ""},
		{"an unknown format", "file:///d/a.ndjson?format=bogus", RoleFindings, Spec{}, 0, "Unknown sink format (supported: ndjson, ocsf)"},
		{"a format without value", "file:///d/a?format", RoleFindings, Spec{}, 0, "Unknown sink format (supported: ndjson, ocsf)"},
		{"a format with an empty value", "stdout?format=", RoleFindings, Spec{}, 0, "Unknown sink format (supported: ndjson, ocsf)"},
		{"a format in capitals", "stdout?format=OCSF", RoleFindings, Spec{}, 0, "Unknown sink format (supported: ndjson, ocsf)"},
		{"findings on standard output", "stdout?format=ocsf", RoleFindings, Spec{Kind: KindStdout, Format: FormatOCSF}, 0, ""},
		{"findings in a file", "file:///d/a?on_full=drop&format=ocsf", RoleFindings, Spec{Kind: KindFile, Target: "/d/a", OnFull: Drop, Format: FormatOCSF}, 0, ""},
		{"findings to a socket", "unix:///d/s?format=ocsf", RoleFindings, Spec{Kind: KindUnix, Target: "/d/s", Format: FormatOCSF}, 0, ""},
		{"format twice", "file:///d/a?format=ndjson&format=ocsf", RoleFindings, Spec{}, 0, "format= may be specified only once"},
		{"format on OTLP", "otlphttp://c:4318?format=ocsf", RoleFindings, Spec{}, 0, "format= is not supported on OTLP sinks"},
		{"format on the dead letter queue", "file:///d/dlq?format=ndjson", RoleDLQ, Spec{}, 0, "format= is only supported on findings sinks"},
		{"format on the audit sink", "file:///d/a?format=ndjson", RoleAudit, Spec{}, 0, "format= is only supported on findings sinks"},
		{"findings on the audit sink", "stdout?format=ocsf", RoleAudit, Spec{}, 0, "format= is only supported on findings sinks"},
		{"an unknown format on the dead letter queue", "stdout?format=bogus", RoleDLQ, Spec{}, 0, "format= is only supported on findings sinks"},
		{"an unknown format on OTLP", "otlp://c?format=bogus", RoleFindings, Spec{}, 0, "format= is not supported on OTLP sinks"},
		{"a socket", "unix:///run/x.sock", RoleFindings, Spec{Kind: KindUnix, Target: "/run/x.sock"}, 0, ""},
		{"a socket for dead letters", "unix:///run/x.sock", RoleDLQ, Spec{Kind: KindUnix, Target: "/run/x.sock"}, 0, ""},
		{"a socket without a path", "unix://", RoleFindings, Spec{}, 0, "sink 'unix://': a unix sink needs the path of a socket: unix:///path"},
		{"a socket without a scheme", "unix", RoleFindings, Spec{}, 0, "Unsupported output sink 'unix'"},
		{"a relative socket", "unix://run/x.sock", RoleFindings, Spec{}, 0, "the path of a socket is absolute: unix:///path, not unix://run/x.sock"},
		{"an unknown policy blocks, with a warning", "stdout?on_full=later", RoleFindings, Spec{Kind: KindStdout}, 1, ""},
		{"the policy of the dead letter queue is ignored", "stdout?on_full=drop", RoleDLQ, Spec{Kind: KindStdout}, 1, ""},
		{"an unknown parameter is named", "stdout?on-full=drop", RoleFindings, Spec{}, 0, "'on-full'"},
		{"an unknown base", "pulsar://x", RoleFindings, Spec{}, 0, "Unsupported output sink 'pulsar://x' (supported: " + usages() + ")"},
		{"a path without a scheme", "/var/log/found.ndjson", RoleFindings, Spec{}, 0, "Unsupported output sink '/var/log/found.ndjson' (supported: " + usages() + "): write file:///var/log/found.ndjson for a file"},
		{"the address of a receiver over HTTP", "https://chat.example/x", RoleFindings, Spec{}, 0, "(supported: " + usages() + "): a file that --webhook names posts results over HTTP"},
		{"a bare unknown word", "nowhere", RoleFindings, Spec{}, 0, "Unsupported output sink"},
		{"OTLP", "otlp://c", RoleFindings, Spec{Kind: KindOTLP, Target: "c"}, 0, ""},
		{"OTLP with parameters", "otlphttp://c:1?compression=gzip&on_full=drop&timeout=5s", RoleFindings, Spec{Kind: KindOTLP, Target: "c:1", OnFull: Drop, Options: map[string]string{"compression": "gzip", "timeout": "5s"}}, 0, ""},
		{"OTLP as the dead letter queue", "otlps://c", RoleDLQ, Spec{Kind: KindOTLP, Target: "c"}, 0, ""},
		{"OTLP with a path", "otlphttp://c:1/v1/logs", RoleFindings, Spec{}, 0, "sink 'otlphttp://c:1/v1/logs': an OTLP sink takes no path"},
		{"OTLP with an unknown compression", "otlp://c?compression=br", RoleFindings, Spec{}, 0, "unknown compression 'br' (supported: gzip)"},
		{"OTLP with a parameter twice", "otlp://c?timeout=1s&timeout=2s", RoleFindings, Spec{}, 0, "timeout= may be specified only once"},
		{"OTLP with an unknown parameter", "otlp://c?compresion=gzip", RoleFindings, Spec{}, 0, "unknown parameter 'compresion', not one of on_full, compression, timeout"},
		{"a parameter of OTLP on a file", "file:///x?timeout=1s", RoleFindings, Spec{}, 0, "unknown parameter 'timeout', not one of on_full, format"},
		{"a parameter that dead letters do not have", "file:///x?size=1", RoleDLQ, Spec{}, 0, "unknown parameter 'size', not one of on_full"},
		{"a file without a path", "file://", RoleFindings, Spec{}, 0, "needs a path"},
		{"a subject on a NATS server", "nats://h:4222/alerts.high", RoleFindings, Spec{Kind: KindNATS, Target: "h:4222/alerts.high"}, 0, ""},
		{"NATS as the dead letter queue", "nats://[::1]:4222/dlq", RoleDLQ, Spec{Kind: KindNATS, Target: "[::1]:4222/dlq"}, 0, ""},
		{"a subject with a wildcard", "nats://h:4222/alerts.>", RoleFindings, Spec{}, 0, "subject 'alerts.>' must be concrete"},
		{"a subject with an empty token", "nats://h:4222/alerts..high", RoleFindings, Spec{}, 0, "subject 'alerts..high' must be concrete"},
		{"a NATS server without a subject", "nats://h:4222/", RoleFindings, Spec{}, 0, "a NATS sink needs a subject: nats://host:port/subject"},
		{"a NATS server without a port", "nats://h/alerts", RoleFindings, Spec{}, 0, "'h' is no host:port"},
		{"a parameter that NATS does not have", "nats://h:4222/a?ca=x", RoleFindings, Spec{}, 0, "unknown parameter 'ca'"},
		{"a password in a URL is refused and not shown", "nats://u:secret@h:4222/a", RoleFindings, Spec{}, 0, "sink 'nats://u:xxxxx@h:4222/a': a NATS URL holds no credentials"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if strings.HasPrefix(tc.name, "OTLP") && otlpKind.open == nil {
				t.Skip("this build has no OTLP")
			}
			got, warnings, err := ParseSpec(tc.text, tc.role)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("got error %v, want one with %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("got error %v, want none", err)
			}
			want := tc.want
			want.Text = tc.text
			if want.Format == "" {
				want.Format = FormatNative
			}
			if want.OnFull == "" {
				want.OnFull = Block
			}
			base, _, _ := strings.Cut(tc.text, "?")
			want.Scheme, _, _ = strings.Cut(base, "://")
			if !reflect.DeepEqual(got, want) || len(warnings) != tc.warnings {
				t.Errorf("got %+v with warnings %q, want %+v with %d", got, warnings, want, tc.warnings)
			}
		})
	}
}

func TestTheFormIsThatOfKindAndFormat(t *testing.T) {
	native, findings := graph.Form(step.Native{}), graph.Form(ocsf.New("1.2"))
	for _, tc := range []struct {
		text   string
		pretty bool
		want   graph.Form
	}{
		{"stdout", false, native},
		{"stdout", true, step.Pretty{Of: native}},
		{"stdout?format=ocsf", false, findings},
		{"stdout?format=ocsf", true, step.Pretty{Of: findings}},
		{"file:///x", true, native},
		{"file:///x?format=ocsf", true, findings},
		{"unix:///x", true, native},
		{"unix:///x?format=ocsf", true, findings},
	} {
		s, _, err := ParseSpec(tc.text, RoleFindings)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Form(Environment{Pretty: tc.pretty, Version: "1.2"}); got != tc.want {
			t.Errorf("%s, indented %t: got %#v, want %#v", tc.text, tc.pretty, got, tc.want)
		}
	}
}

func TestFindingsNeedTheTimeOfEvents(t *testing.T) {
	for _, tc := range []struct {
		name  string
		sinks []string
		want  bool
	}{
		{"no sink is named", nil, false},
		{"native lines", []string{"stdout", "file:///x?format=ndjson"}, false},
		{"findings beside native lines", []string{"stdout", "file:///x?format=ocsf"}, true},
		{"a sink that cannot be", []string{"nowhere?format=ocsf"}, false},
	} {
		if got := (Config{Sinks: tc.sinks}).NeedsTime(); got != tc.want {
			t.Errorf("%s: got %t, want %t", tc.name, got, tc.want)
		}
	}
}

func TestTheHelpOfOutputNamesEveryScheme(t *testing.T) {
	f, _ := reflect.TypeFor[Config]().FieldByName("Sinks")
	for _, k := range kinds {
		if help := f.Tag.Get("help"); k.open != nil && !strings.Contains(help, k.schemes[0]) {
			t.Errorf("%q does not name %s", help, k.schemes[0])
		}
	}
}

func TestLabelsNumberTheSecondOfAKind(t *testing.T) {
	got := Labels([]Spec{{Kind: KindFile}, {Kind: KindStdout}, {Kind: KindFile}, {Kind: KindFile}})
	if want := []string{"file", "stdout", "file-2", "file-3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, want := range map[string]bool{"file": true, "otlp-12": true, "file-1": false, "file-": false, "-2": false, "chat": false, "chat-2": false, "webhook": false, "": false} {
		if got := IsLabel(name); got != want {
			t.Errorf("%q is a label: got %t, want %t", name, got, want)
		}
	}
}

func TestTheErrorOfTwoSinksHidesSecrets(t *testing.T) {
	path := t.TempDir() + "/a"
	err := Distinct([]Spec{
		{Kind: KindFile, Target: path, Text: "file://" + path + "?token=hunter2"},
		{Kind: KindFile, Target: path, Text: "file:///again?token=hunter2"},
	})
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "write to the same file") {
		t.Errorf("got %v, want an error without the secrets", err)
	}
}

func TestTwoSinksMayNotWriteToOneFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(dir, "again")); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"dangling": "yet/../a", "round": "round"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "yet"), 0o755), os.WriteFile(filepath.Join(dir, "there"), nil, 0o600),
		os.Link(filepath.Join(dir, "there"), filepath.Join(dir, "twin"))); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name     string
		one, two string
		same     bool
	}{
		{"two names", dir + "/a", dir + "/b", false},
		{"one name", dir + "/a", dir + "/a", true},
		{"one name spelled twice", dir + "/a", dir + "/./x/../a", true},
		{"through a linked directory", dir + "/a", dir + "/again/a", true},
		{"through a link to a file that does not exist yet", dir + "/a", dir + "/dangling", true},
		{"two links to one file", dir + "/there", dir + "/twin", true},
		{"a link to itself", dir + "/a", dir + "/round", false},
		{"a device may be shared", os.DevNull, os.DevNull, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := Distinct([]Spec{{Kind: KindFile, Target: tc.one}, {Kind: KindStdout}, {Kind: KindFile, Target: tc.two}})
			if (err != nil) != tc.same {
				t.Errorf("got %v, want an error: %t", err, tc.same)
			}
		})
	}
}
