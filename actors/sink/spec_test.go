package sink

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
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
		{"case 2: an unknown format", "file:///d/a.ndjson?format=bogus", RoleFindings, Spec{}, 0, "Unknown sink format (supported: ndjson)"},
		{"case 3: a format without value", "file:///d/a?format", RoleFindings, Spec{}, 0, "Unknown sink format"},
		{"case 3: format twice", "file:///d/a?format=ndjson&format=ocsf", RoleFindings, Spec{}, 0, "format= may be specified only once"},
		{"case 4: format on OTLP", "otlphttp://c:4318?format=ocsf", RoleFindings, Spec{}, 0, "format= is not supported on OTLP sinks"},
		{"case 5: format on the dead letter queue", "file:///d/dlq?format=ndjson", RoleDLQ, Spec{}, 0, "format= is only supported on findings sinks"},
		{"format on the audit sink", "file:///d/a?format=ndjson", RoleAudit, Spec{}, 0, "format= is only supported on findings sinks"},
		{"case 6: an unknown policy blocks, with a warning", "stdout?on_full=later", RoleFindings, Spec{Kind: KindStdout}, 1, ""},
		{"the policy of the dead letter queue is ignored", "stdout?on_full=drop", RoleDLQ, Spec{Kind: KindStdout}, 1, ""},
		{"an unknown parameter is named", "stdout?on-full=drop", RoleFindings, Spec{}, 0, "'on-full'"},
		{"an unknown base", "kafka://x", RoleFindings, Spec{}, 0, "Unsupported output sink 'kafka://x' (supported: " + usages() + ")"},
		{"a bare unknown word", "nowhere", RoleFindings, Spec{}, 0, "Unsupported output sink"},
		{"OTLP", "otlp://c", RoleFindings, Spec{Kind: KindOTLP, Target: "c"}, 0, ""},
		{"OTLP with parameters", "otlphttp://c:1?compression=gzip&on_full=drop&timeout=5s", RoleFindings, Spec{Kind: KindOTLP, Target: "c:1", OnFull: Drop, Options: map[string]string{"compression": "gzip", "timeout": "5s"}}, 0, ""},
		{"OTLP as the dead letter queue", "otlps://c", RoleDLQ, Spec{Kind: KindOTLP, Target: "c"}, 0, ""},
		{"OTLP with a path", "otlphttp://c:1/v1/logs", RoleFindings, Spec{}, 0, "sink 'otlphttp://c:1/v1/logs': an OTLP sink takes no path"},
		{"OTLP with an unknown compression", "otlp://c?compression=br", RoleFindings, Spec{}, 0, "unknown compression 'br' (supported: gzip)"},
		{"OTLP with a parameter twice", "otlp://c?timeout=1s&timeout=2s", RoleFindings, Spec{}, 0, "timeout= may be specified only once"},
		{"OTLP with an unknown parameter", "otlp://c?compresion=gzip", RoleFindings, Spec{}, 0, "unknown parameter 'compresion'"},
		{"a parameter of OTLP on a file", "file:///x?timeout=1s", RoleFindings, Spec{}, 0, "unknown parameter 'timeout'"},
		{"a file without a path", "file://", RoleFindings, Spec{}, 0, "needs a path"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if strings.HasPrefix(tc.name, "OTLP") && kindOTLP.open == nil {
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
			want.Text, want.Format = tc.text, FormatNative
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
