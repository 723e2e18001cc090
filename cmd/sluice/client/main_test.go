package client

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/trialcert"
	"github.com/sluicehq/sluice/graph/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// files writes a set and returns a function that gives the paths of its files.
func files(t *testing.T, s *trialcert.Set) func(name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := s.Write(dir, false); err != nil {
		t.Fatal(err)
	}
	return func(name string) string { return filepath.Join(dir, name) }
}

// issue makes a set that is valid from an hour before a time on, for hosts.
func issue(t *testing.T, at time.Time, hosts ...string) *trialcert.Set {
	t.Helper()
	s, err := trialcert.New(hosts, at, 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
