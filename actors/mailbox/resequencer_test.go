package mailbox

import "testing"

func TestTheResequencerRefusesWhatIsOutsideItsWindow(t *testing.T) {
	r := newResequencer[string](3)
	r.next = 10
	for _, tc := range []struct {
		name string
		seq  uint64
		ok   bool
	}{
		{"the last of the window", 12, true},
		{"beyond the window", 13, false},
		{"twice", 12, false},
		{"before the next", 9, false},
		{"the next", 10, true},
	} {
		if ok := r.add(tc.seq, "x"); ok != tc.ok {
			t.Errorf("%s: got %t, want %t", tc.name, ok, tc.ok)
		}
	}
}

// Whatever order the workers finish in, everything comes out once and in order.
func FuzzResequencerRestoresTheOrder(f *testing.F) {
	f.Add([]byte{2, 1, 0}, uint8(3))
	f.Add([]byte{0, 0, 0, 9, 7, 1}, uint8(1))
	f.Fuzz(func(t *testing.T, picks []byte, workers uint8) {
		window := int(workers%16) + 1
		r := newResequencer[uint64](window)
		var started []uint64
		next, want := uint64(0), uint64(0)
		for _, pick := range picks {
			for next-want < uint64(window) {
				started = append(started, next)
				next++
			}
			i := int(pick) % len(started)
			if !r.add(started[i], started[i]) {
				t.Fatalf("add %d: refused", started[i])
			}
			started = append(started[:i], started[i+1:]...)
			for v, ok := r.pop(); ok; v, ok = r.pop() {
				if v != want {
					t.Fatalf("got %d, want %d", v, want)
				}
				want++
			}
		}
		if held := next - want - uint64(len(started)); int(want+held) != len(picks) {
			t.Errorf("%d came out and %d are held back, of %d", want, held, len(picks))
		}
	})
}
