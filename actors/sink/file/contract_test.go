package file_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/file"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/modetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestContract(t *testing.T) {
	var dir string
	var transport *file.Transport
	sinktest.Contract(t, sinktest.Harness{
		Kind: sink.KindFile,
		New: func(t *testing.T, _ modetest.Mode) (sink.Transport, func() []string) {
			t.Helper()
			dir = filepath.Join(t.TempDir(), "logs")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			var err error
			if transport, err = file.Open(filepath.Join(dir, "out"), time.Now); err != nil {
				t.Fatal(err)
			}
			return transport, func() []string {
				text, err := os.ReadFile(filepath.Join(dir, "out"))
				if err != nil && !os.IsNotExist(err) {
					t.Error(err)
				}
				return sinktest.Split(string(text))
			}
		},
		// A directory that moves away takes the file with it, and no new one can be made.
		Break: func(t *testing.T) func() {
			t.Helper()
			move := func(from, to string) {
				if err := os.Rename(from, to); err != nil {
					t.Fatal(err)
				}
			}
			move(dir, dir+".gone")
			transport.Reopen()
			return func() { move(dir+".gone", dir) }
		},
	})
}
