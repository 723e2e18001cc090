package pipeline_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBuiltinsLoadWithoutWarnings(t *testing.T) {
	for _, name := range pipeline.Builtins {
		s, err := pipeline.Load([]string{name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p := s.Pipelines[0]
		if p.Name != name || len(p.Warnings) != 0 || !p.Builtin() {
			t.Errorf("%s: name %q, warnings %v", name, p.Name, p.Warnings)
		}
	}
}

// The corpus goes through every built-in pipeline without a rejected rule.
func TestTheCorpusGoesThroughTheBuiltinPipelines(t *testing.T) {
	sub, err := fs.Sub(sigmatest.RuleArchive(t), "rules")
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{{"windows_evtx"}, {"ecs_windows", "sysmon"}, {"fibratus_windows"}} {
		s, err := pipeline.Load(names)
		if err != nil {
			t.Fatal(err)
		}
		c, err := load.FromFS(sub, load.Options{Transform: s.Apply, TransformCorrelation: s.ApplyCorrelation})
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Rules) == 0 || len(c.Rejected) > 0 {
			t.Errorf("%v: %d rules, rejected %+v", names, len(c.Rules), c.Rejected)
		}
	}
}
