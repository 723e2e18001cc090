package correlation_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

var update = flag.Bool("update", false, "rewrite golden files")

// State on disk outlives the program that wrote it. When this test fails, older
// states can no longer be read, and SnapshotVersion must change.
func TestStoredStateKeepsItsForm(t *testing.T) {
	name := filepath.Join("testdata", "state-v1.golden")
	p := compile(t, everything(), program.Options{})
	d := newDriver(t, p, 0)
	d.run(traffic(5, 60))
	written := d.save()
	if *update {
		if err := os.WriteFile(name, written, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written, stored) {
		t.Errorf("the state is written differently: got %d bytes, want the %d of %s", len(written), len(stored), name)
	}
	again := newDriver(t, p, 0)
	if _, err := again.engine.Restore(bytes.NewReader(stored), again.now); err != nil {
		t.Fatal(err)
	}
	for i, e := range traffic(6, 60) {
		if got, want := lines(again.feed(e)), lines(d.feed(e)); got != want {
			t.Fatalf("event %d after the restore:\ngot  %s\nwant %s", i, got, want)
		}
	}
	if correlation.SnapshotVersion != 1 {
		t.Error("keep the golden file of version 1 and add one for the new version")
	}
}
