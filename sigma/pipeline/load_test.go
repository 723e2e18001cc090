package pipeline_test

import (
	"os"
	"path/filepath"
	"testing"

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
