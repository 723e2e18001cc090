package state_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
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

// said is the form of what the child says: how many nanoseconds something took.
const said = "%019d\n"

// saveForEver opens the store and writes saves whose content follows from their
// time. It says how long each of that took.
func saveForEver(dir string) {
	begin := time.Now()
	say := func() { fmt.Printf(said, time.Since(begin)); begin = time.Now() }
	st, err := state.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	s := st.Series("save")
	var at int64
	if h, err := s.Head(); err == nil {
		at = h.SavedAt
	}
	say()
	for {
		at++
		v, err := s.Begin()
		if err != nil {
			panic(err)
		}
		if err := v.Write("part", 1, write(noise(uint64(at), partSize(at)))); err != nil {
			panic(err)
		}
		if err := v.Commit(at); err != nil {
			panic(err)
		}
		say()
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
	var took time.Duration // what the save took that was heard of last
	kills := sigmatest.Rounds(100)
	for round := range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		heard := func() (took time.Duration) {
			t.Helper()
			if _, err := fmt.Fscanf(out, said, &took); err != nil {
				t.Fatalf("round %d: the process said nothing: %v", round, err)
			}
			return took
		}
		heard()
		saves := random.IntN(3)
		if round == 0 {
			saves = 1
		}
		for range saves {
			took = heard()
			last++
		}
		time.Sleep(time.Duration(random.Int64N(2 * int64(took)))) // somewhere in the next saves
		_ = cmd.Process.Kill()
		_ = cmd.Wait()

		st := open(t, dir)
		s := st.Series("save")
		h, err := s.Head()
		if err != nil {
			t.Fatalf("round %d: head: %v", round, err)
		}
		if h.SavedAt < last {
			t.Fatalf("round %d: current save is %d, it was %d before", round, h.SavedAt, last)
		}
		last = h.SavedAt
		if got, want := content(t, s, "part"), noise(uint64(last), partSize(last)); !bytes.Equal(got, want) {
			t.Fatalf("round %d: save %d has %d bytes, want %d", round, last, len(got), len(want))
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d saves survived %d kills", last, kills)
}
