package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/http/audit"
	"github.com/sluicehq/sluice/http/auth"
	"github.com/sluicehq/sluice/internal/unavailable"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// files writes files below a new directory and returns options that see
// nothing else: sys is the system's directory, the rest the working directory.
func files(t *testing.T, texts map[string]string) Options {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	work := filepath.Join(dir, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	return Options{Dir: work, SystemDir: filepath.Join(dir, "sys"), Section: "daemon"}
}

func mustLoad(t *testing.T, o Options) *Loaded {
	t.Helper()
	l, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLayersMergeLeafByLeaf(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		env   []string
		flags []Flag
		want  func(*Config) any
		value any
		path  string
		layer Layer
	}{
		{
			name:  "a flag beats a file",
			files: map[string]string{"work/sluice.yaml": `daemon: {rules: /f, api: {addr: "1.2.3.4:5"}, input: {buffer_size: 111}}`},
			flags: []Flag{{"rules", []string{"/c"}}, {"buffer-size", []string{"999"}}},
			want:  func(c *Config) any { return []any{c.Daemon.Rules, c.Daemon.Input.BufferSize, c.Daemon.API.Addr} },
			value: []any{[]string{"/c"}, 999, "1.2.3.4:5"}, path: "daemon.rules", layer: LayerFlag,
		},
		{
			name: "a file nearer by beats the system's, leaf by leaf",
			files: map[string]string{
				"sys/config.yaml":  `daemon: {api: {addr: "1.1.1.1:1"}, correlation: {max_events: 5}}`,
				"work/sluice.yaml": `daemon: {api: {addr: "2.2.2.2:2"}}`,
			},
			want:  func(c *Config) any { return []any{c.Daemon.API.Addr, c.Daemon.Correlation.MaxEvents} },
			value: []any{"2.2.2.2:2", 5}, path: "daemon.correlation.max_events", layer: LayerFile,
		},
		{
			name: "a token granted below does not survive an override",
			files: map[string]string{
				"sys/config.yaml":  `daemon: {api: {auth: {tokens: [{name: x, token_env: X, role: admin}]}}}`,
				"work/sluice.yaml": `daemon: {api: {auth: {anonymous_permissions: ["metrics:read"]}}}`,
			},
			want:  func(c *Config) any { return *c.Daemon.API.Auth },
			value: auth.Config{AnonymousPermissions: []string{"metrics:read"}}, path: "daemon.api.auth.tokens", layer: LayerDefault,
		},
		{
			name: "audit is replaced whole",
			files: map[string]string{
				"sys/config.yaml":  `daemon: {api: {audit: {max_entries: 5, sink: "file:///a"}}}`,
				"work/sluice.yaml": `daemon: {api: {audit: {max_age: 1h}}}`,
			},
			want:  func(c *Config) any { return c.Daemon.API.Audit },
			value: audit.Config{MaxEntries: 10_000, MaxAge: timespan.Seconds(3600), MaxBodyBytes: 64 * timespan.KiB}, path: "daemon.api.audit.max_entries", layer: LayerDefault,
		},
		{
			name:  "two variables of one replaced section stand together",
			files: map[string]string{"sys/config.yaml": `daemon: {api: {audit: {sink: "file:///a"}}}`},
			env:   []string{"SLUICE_DAEMON__API__AUDIT__MAX_ENTRIES=5", "SLUICE_DAEMON__API__AUDIT__MAX_AGE=1h"},
			want:  func(c *Config) any { return c.Daemon.API.Audit },
			value: audit.Config{MaxEntries: 5, MaxAge: timespan.Seconds(3600), MaxBodyBytes: 64 * timespan.KiB}, path: "daemon.api.audit.max_age", layer: LayerEnv,
		},
		{
			name:  "a variable beats a file",
			files: map[string]string{"work/sluice.yaml": `daemon: {input: {buffer_size: 111}}`},
			env:   []string{"SLUICE_DAEMON__INPUT__BUFFER_SIZE=42"},
			want:  func(c *Config) any { return c.Daemon.Input.BufferSize },
			value: 42, path: "daemon.input.buffer_size", layer: LayerEnv,
		},
		{
			name:  "a path may stand for a list",
			files: map[string]string{"work/sluice.yaml": `daemon: {rules: [a, b.yml]}`},
			want:  func(c *Config) any { return c.Daemon.Rules },
			value: []string{"a", "b.yml"}, path: "daemon.rules", layer: LayerFile,
		},
		{
			name:  "mailboxes merge entry by entry, and a flag overrides the one it names",
			files: map[string]string{"work/sluice.yaml": `daemon: {mailboxes: {parse: 5, "sink:stdout": 7}}`},
			flags: []Flag{{"mailbox-size", []string{"parse=9", "dispatch=3"}}},
			want:  func(c *Config) any { return c.Daemon.Mailboxes },
			value: map[string]int{"parse": 9, "sink:stdout": 7, "dispatch": 3}, path: "daemon.mailboxes.sink:stdout", layer: LayerFile,
		},
		{
			name:  "custom dimensions are replaced whole by a file",
			files: map[string]string{"sys/config.yml": `eval: {logsource_routing: {field_map: {product: p, custom: {a: b}}}}`, "work/sluice.yml": `eval: {logsource_routing: {field_map: {custom: {c: d}}}}`},
			want:  func(c *Config) any { return c.Eval.LogsourceRouting.FieldMap },
			value: ruleset.Dimensions{Product: "p", Custom: map[string]string{"c": "d"}}, path: "eval.logsource_routing.field_map.custom", layer: LayerFile,
		},
		{
			name:  "a dimension flag replaces the whole block",
			files: map[string]string{"work/sluice.yaml": `daemon: {logsource_routing: {field_map: {product: p, service: s}}}`},
			flags: []Flag{{"logsource-field-map", []string{" category = c ,, custom.x=y, product= "}}},
			want:  func(c *Config) any { return c.Daemon.LogsourceRouting.FieldMap },
			value: ruleset.Dimensions{Category: "c", Custom: map[string]string{"x": "y"}}, path: "daemon.logsource_routing.field_map.product", layer: LayerFlag,
		},
		{
			name:  "a file may give dimensions as the flag does, and replaces the whole block",
			files: map[string]string{"sys/config.yml": `eval: {logsource_routing: {event_logsource: {service: s}}}`, "work/sluice.yml": `eval: {logsource_routing: {event_logsource: "product=windows, custom.x=y"}}`},
			want:  func(c *Config) any { return c.Eval.LogsourceRouting.EventLogsource },
			value: ruleset.Dimensions{Product: "windows", Custom: map[string]string{"x": "y"}}, path: "eval.logsource_routing.event_logsource.product", layer: LayerFile,
		},
		{
			name:  "an enabling flag can only turn on",
			files: map[string]string{"work/sluice.yaml": `daemon: {tap: {enabled: true}}`},
			flags: []Flag{{"enable-tap", []string{"false"}}},
			want:  func(c *Config) any { return c.Daemon.Tap.Enabled },
			value: true, path: "daemon.tap.enabled", layer: LayerFile,
		},
		{
			name:  "a null leaves what lower layers said",
			files: map[string]string{"sys/config.yaml": `daemon: {rules: x, input: {batch_size: 3}}`, "work/sluice.yaml": "daemon: {rules: null, input: ~}"},
			want:  func(c *Config) any { return []any{c.Daemon.Rules, c.Daemon.Input.BatchSize} },
			value: []any{[]string{"x"}, 3}, path: "daemon.rules", layer: LayerFile,
		},
		{
			name:  "blanks and case of match_detail do not matter in a file",
			files: map[string]string{"work/sluice.yaml": `daemon: {engine: {match_detail: " Full "}}`},
			want:  func(c *Config) any { return c.Daemon.Engine.MatchDetail },
			value: "full", path: "daemon.engine.match_detail", layer: LayerFile,
		},
		{
			name:  "the aliases of event_mode that YAML reads as booleans are words",
			files: map[string]string{"work/sluice.yaml": `daemon: {correlation: {event_mode: true}}`},
			env:   []string{"SLUICE_DAEMON__CORRELATION__EVENT_MODE=False"},
			want:  func(c *Config) any { return c.Daemon.Correlation.EventMode },
			value: "false", path: "daemon.correlation.event_mode", layer: LayerEnv,
		},
		{
			name:  "a wrong colour is ignored and the layer below applies",
			files: map[string]string{"sys/config.yaml": "global: {color: never}", "work/sluice.yaml": "global: {color: pink}"},
			want:  func(c *Config) any { return c.Global.Color },
			value: "never", path: "global.color", layer: LayerFile,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := files(t, tc.files)
			o.Environ, o.Flags = tc.env, tc.flags
			l := mustLoad(t, o)
			if got := tc.want(l.Config); !reflect.DeepEqual(got, tc.value) {
				t.Errorf("got %+v, want %+v", got, tc.value)
			}
			if got := l.Layer(tc.path); got != tc.layer {
				t.Errorf("%s comes from %s, want %s", tc.path, got, tc.layer)
			}
		})
	}
}

func TestDiscoveryTakesTheNearestRcFile(t *testing.T) {
	o := files(t, map[string]string{
		".sluicerc": "daemon: {rules: far}", "work/.sluicerc": "daemon: {rules: near}", "xdg/sluice/config.yaml": "",
		"xdg/sluice/config.yml": "", "sys/config.yml": "",
	})
	o.Environ = []string{"XDG_CONFIG_HOME=" + filepath.Join(filepath.Dir(o.Dir), "xdg")}
	l := mustLoad(t, o)
	var names []string
	for _, f := range l.Files {
		rel, err := filepath.Rel(filepath.Dir(o.Dir), f)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, rel)
	}
	want := []string{"sys/config.yml", "xdg/sluice/config.yaml", "work/.sluicerc"}
	if !slices.Equal(names, want) || l.Config.Daemon.Rules[0] != "near" {
		t.Errorf("got %v with rules %v, want %v", names, l.Config.Daemon.Rules, want)
	}
}

func TestBadVariablesAreSkippedWithAWarning(t *testing.T) {
	o := files(t, nil)
	o.Environ = []string{
		"SLUICE_DAEMON__OUTPUT__SINKS=notalist", "SLUICE_DAEMON__API__ADDR=127.0.0.1:7000", "SLUICE_DAEMON__NOPE=1",
		"SLUICE_LOG=debug", "SLUICE_DAEMON__NATS__TOKEN=secret", "SLUICE_DAEMON__OUTPUT__WEBHOOKS=[a, b]",
	}
	l := mustLoad(t, o)
	if got := l.Config.Daemon.API.Addr; got != "127.0.0.1:7000" {
		t.Errorf("addr %q, want 127.0.0.1:7000", got)
	}
	if got := l.Config.Daemon.Output.Webhooks; !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("webhooks %q, want a and b", got)
	}
	if got := l.Config.Daemon.Output.Sinks; !slices.Equal(got, []string{"stdout"}) {
		t.Errorf("sinks %q, want the default", got)
	}
	all := Problems(slices.Concat(l.Ignored, l.Warnings, l.UnknownKeys)).Error()
	for _, want := range []string{
		"SLUICE_DAEMON__OUTPUT__SINKS is ignored", "environment variable SLUICE_DAEMON__NOPE: daemon.nope",
		"daemon.nats.token",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("warnings lack %q:\n%s", want, all)
		}
	}
	if strings.Contains(all, "secret") || strings.Count(all, "\n") != 2 {
		t.Errorf("want three warnings without the secret, got:\n%s", all)
	}
}

func TestUnknownKeysInsideTokens(t *testing.T) {
	o := files(t, map[string]string{"work/sluice.yaml": `daemon: {api: {auth: {tokens: [{name: a, token: hidden}]}}}`})
	l := mustLoad(t, o)
	if len(l.UnknownKeys) != 1 || l.UnknownKeys[0].Key != "daemon.api.auth.tokens[0].token" {
		t.Errorf("got %v, want the token's value to be an unknown key", l.UnknownKeys)
	}
}

func TestHostileFilesAreRefused(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"aliases that multiply", "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n", "too large"},
		{"nesting without end", "a: " + strings.Repeat("[", 60) + strings.Repeat("]", 60), "too deep"},
		{"a key that is a list", "? [a]\n: b\n", "plain text"},
		{"a file that is not text", "\x00\x01", "control characters"},
		{"a list that is not closed", "daemon:\n  rules: [a\n", "sluice.yaml:2: did not find expected ',' or ']'"},
		{"a tab", "daemon:\n\trules: a\n", "sluice.yaml:2: found character that cannot start any token"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Load(files(t, map[string]string{"work/sluice.yaml": tc.text}))
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "sluice.yaml") {
				t.Errorf("got %v, want an error that names the file and says %q", err, tc.want)
			}
		})
	}
}

func TestEverySettingIsDescribed(t *testing.T) {
	known := make(map[string]bool)
	tree().walk(func(f *field) {
		for path := f.path; path != ""; path = path[:max(0, strings.LastIndexByte(path, '.'))] {
			known[path] = true
		}
		known["--"+f.flag] = true
		if f.flag == "" && strings.HasSuffix(f.path, "--") {
			t.Errorf("%v can be set by nothing", f.path)
		}
	})
	for _, f := range tree().settings() {
		if f.flag == "" {
			continue
		}
		known["--"+f.flag] = true
		if f.help == "" {
			t.Errorf("%s (--%s) has no help text", f.path, f.flag)
		}
	}
	for _, feature := range unavailable.All() {
		for _, setting := range append(feature.Refused, feature.Ignored...) {
			if !known[setting] {
				t.Errorf("%s: %s does not exist", feature.Name, setting)
			}
		}
	}
}

func TestFlagsOfASectionAreUnique(t *testing.T) {
	for _, section := range []string{"daemon", "eval"} {
		seen := make(map[string]bool)
		for _, f := range append(FlagsOf(section), FlagsOf("global")...) {
			if seen[f.Flag] {
				t.Errorf("%s has --%s twice", section, f.Flag)
			}
			seen[f.Flag] = true
		}
	}
}

func TestDefaultsAreAllowed(t *testing.T) {
	l := mustLoad(t, files(t, nil))
	tree().walk(func(f *field) { l.sources[f.path] = origin{layer: LayerFile} })
	for _, p := range l.Check() {
		if !strings.Contains(p.Message, `""`) { // unset
			t.Error(p)
		}
	}
}

func FuzzAnyFileLoadsOrFails(f *testing.F) {
	f.Add("daemon: {rules: [a], mailboxes: {parse: 1}, api: {auth: {tokens: [{name: a}]}}}")
	f.Add("global: &g {color: never}\neval: *g\n")
	f.Add("- a")
	f.Add("version: 2")
	f.Fuzz(func(t *testing.T, text string) {
		root := tree()
		l := &layer{decoder: decoder{file: "f"}, kind: LayerFile}
		l.parseYAML(root, []byte(text))
		loaded := newLoaded("")
		loaded.apply(l)
		loaded.Check()
		if _, err := loaded.ShowYAML(""); err != nil {
			t.Errorf("show: %v", err)
		}
	})
}
