package command

import "testing"

func TestConfigValidateLooksAtSources(t *testing.T) {
	const (
		good     = "sources:\n  - {id: a, type: file, format: json, path: a.json}\n"
		pipeline = "vars: {bad: [\"${source.a}\", \"${source.b}\"]}\n"
		rule     = "title: R\ndetection: {s: {CommandLine: '%bad%'}, condition: s}\n"
	)
	for _, tc := range []struct {
		name, sources, pipeline string
		code                    int
		err                     []string
	}{
		{"declarations that nothing refers to", good, "", 0, []string{"Config is valid."}},
		{"references to what is declared", good, "vars: {bad: \"${source.a}\"}\n", 0, []string{
			"warning: ./sluice.yaml:3: daemon.pipelines: pipelines refer to sources, which validation does not fetch: the rules are parsed only", "Config is valid.",
		}},
		{"references to what is not", good, pipeline, 3, []string{"daemon.pipelines: pipeline references undeclared source(s): b (--source names"}},
		{"a declaration that is faulty, with its line", "sources:\n  - {id: a, type: ftp, format: json}\n  - {id: b, type: file, path: x}\n", "", 3, []string{
			"sources.yml:2: daemon.sources: Error loading external sources: source 'a' has unknown type: 'ftp'", "sources.yml:3: daemon.sources: Error loading external sources: ", "format", "2 problems.",
		}},
		{"an id twice", good + "  - {id: a, type: file, format: json, path: b.json}\n", "", 3, []string{
			"daemon.sources: Source ID collision: source ID 'a' declared in both external:sources.yml and external:sources.yml",
		}},
		{"a file that is not there", "", "", 3, []string{"Error loading external sources: cannot read sources file: "}},
		{"a key that is ignored", good + "extra: 1\n", "", 0, []string{"warning: ", "'extra' is ignored", "Config is valid."}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "r.yml", rule)
			write(t, "p.yml", "transformations: []\n"+tc.pipeline)
			if tc.sources != "" {
				write(t, "sources.yml", tc.sources)
			}
			write(t, "sluice.yaml", "daemon:\n  rules: r.yml\n  pipelines: [p.yml]\n  sources: [sources.yml]\n  api: {addr: \"127.0.0.1:0\"}\n")
			got := sluice(t, "", "config", "validate")
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.err...)
			if tc.code == 3 { // the start says the same
				got = sluice(t, "", "engine", "daemon")
				got.wantCode(t, 3)
				got.wantErr(t, tc.err[0])
			}
		})
	}
}
