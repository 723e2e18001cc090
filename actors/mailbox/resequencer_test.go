package mailbox_test

import (
	"errors"
	"testing"

	"github.com/sluicehq/sluice/actors/mailbox"
)

func TestResequencerRefusesWhatIsOutsideItsWindow(t *testing.T) {
	r := mailbox.NewResequencer[string](10, 3)
	for _, tc := range []struct {
		name string
		seq  uint64
		err  error
	}{
		{"the last of the window", 12, nil},
		{"beyond the window", 13, mailbox.ErrSequence},
		{"twice", 12, mailbox.ErrSequence},
		{"before the next", 9, mailbox.ErrSequence},
		{"the next", 10, nil},
	} {
		if err := r.Add(tc.seq, "x"); !errors.Is(err, tc.err) {
			t.Errorf("%s: got %v, want %v", tc.name, err, tc.err)
		}
	}
	if got := r.Waiting(); got != 2 {
		t.Errorf("waiting: got %d, want 2", got)
	}
}

// Whatever order the workers finish in, everything comes out once and in order.
func FuzzResequencerRestoresTheOrder(f *testing.F) {
	f.Add([]byte{2, 1, 0}, uint8(3))
	f.Add([]byte{0, 0, 0, 9, 7, 1}, uint8(1))
	f.Fuzz(func(t *testing.T, picks []byte, workers uint8) {
		window := int(workers%16) + 1
		r := mailbox.NewResequencer[uint64](0, window)
		var started, finished []uint64
		next, want := uint64(0), uint64(0)
		for _, pick := range picks {
			for len(started)+r.Waiting() < window && next-want < uint64(window) {
				started = append(started, next)
				next++
			}
			i := int(pick) % len(started)
			if err := r.Add(started[i], started[i]); err != nil {
				t.Fatalf("add %d: got %v, want nil", started[i], err)
			}
			started = append(started[:i], started[i+1:]...)
			for v, ok := r.Next(); ok; v, ok = r.Next() {
				if v != want {
					t.Fatalf("got %d, want %d", v, want)
				}
				finished = append(finished, v)
				want++
			}
		}
		if got := len(finished) + r.Waiting(); got != len(picks) {
			t.Errorf("got %d elements, want %d", got, len(picks))
		}
	})
}
