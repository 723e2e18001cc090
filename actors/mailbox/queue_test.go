package mailbox

import "testing"

func TestAQueueKeepsItsRingWhileItIsUsed(t *testing.T) {
	for _, tc := range []struct {
		name   string
		burst  int // elements at once, at first
		steady int // elements at once, afterwards, many times
		want   bool
	}{
		{"a steady stream does not allocate", 1000, 1000, true},
		{"half of a burst is reason enough to keep its memory", 1000, 500, true},
		{"what a burst needed is given up after a while", 1000, 10, false},
		{"a small ring stays", queueKeeps, 1, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var q queue[int]
			cycle := func(n int) {
				for i := range n {
					q.push(i)
				}
				for i := range n {
					if got := q.pop(); got != i {
						t.Fatalf("got %d, want %d", got, i)
					}
				}
			}
			cycle(tc.burst)
			size := len(q.ring)
			for range 2 * queuePatience {
				cycle(tc.steady)
			}
			if kept := len(q.ring) == size; kept != tc.want {
				t.Errorf("ring of %d slots after one of %d: kept %t, want %t", len(q.ring), size, kept, tc.want)
			}
		})
	}
}
