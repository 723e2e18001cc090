package state_test

import (
	"bytes"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/sluicehq/sluice/state"
)

const childDir = "SLUICE_STATE_TEST_DIR"

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		saveForEver(dir)
	}
	os.Exit(m.Run())
}

// saveForEver writes saves whose content follows from their time.
func saveForEver(dir string) {
	st, err := state.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	s := st.Series("save")
	var at int64
	if h, err := s.Head(); err == nil {
		at = h.SavedAt
	}
	_, _ = os.Stdout.WriteString("saving\n")
	for {
		at++
		v, err := s.Begin()
		if err != nil {
			panic(err)
		}
		if err := v.Write("part", 1, write(noise(uint64(at), partSize(at)))); err != nil {
			panic(err)
		}
		if err := v.Commit(at, nil); err != nil {
			panic(err)
		}
	}
}

func partSize(at int64) int { return int(at%7) * 150 << 10 }

// However a process dies in the middle of a save, the store opens with the last
// complete one.
func TestAKilledProcessLeavesTheLastCompleteSave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	var last int64
	for round := range 100 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, len("saving\n"))); err != nil {
			t.Fatalf("round %d: the store did not open: %v", round, err)
		}
		time.Sleep(time.Duration(random.IntN(8000)) * time.Microsecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()

		st := open(t, dir)
		s := st.Series("save")
		h, err := s.Head()
		if err != nil && round > 0 && last > 0 {
			t.Fatalf("round %d: head: %v", round, err)
		}
		if err == nil {
			if h.SavedAt < last {
				t.Fatalf("round %d: current save is %d, it was %d before", round, h.SavedAt, last)
			}
			last = h.SavedAt
			if got, want := content(t, s, "part"), noise(uint64(last), partSize(last)); !bytes.Equal(got, want) {
				t.Fatalf("round %d: save %d has %d bytes, want %d", round, last, len(got), len(want))
			}
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if last == 0 {
		t.Error("no save was ever completed")
	}
	t.Logf("%d saves survived 100 kills", last)
}
