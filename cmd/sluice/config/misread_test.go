package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMisreadTakesWhatIsOfItsSectionAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("daemon:\n  auth: {}\n  api:\n    auth:\n    tls: {clientca: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Load(Options{File: file, Environ: []string{"SLUICE_DAEMON__API__AUTH__TOKENS=[", "SLUICE_DAEMON__API__ADDR=["}})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Misread("daemon.api.auth"); len(got) != 2 || len(l.UnknownKeys) != 2 || len(l.Ignored) != 1 || len(l.Warnings) != 0 {
		t.Errorf("got %v and left %v, %v, %v", got, l.UnknownKeys, l.Ignored, l.Warnings)
	}
	if got := l.Misread("daemon.api.tls"); len(got) != 1 || got[0].Key != "daemon.api.tls.clientca" || len(l.UnknownKeys) != 1 {
		t.Errorf("got %v and left %v", got, l.UnknownKeys)
	}
}
