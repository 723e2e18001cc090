package window

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestTheTableOfTextsFindsWhatAMapFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s textSet
	want := map[string]*text{}
	for step := range 50_000 {
		// Many texts at first, then few, then many again.
		among := []int{2000, 12, 300}[step*3/50_000]
		name := fmt.Sprintf("a text that may be long %d", r.IntN(among))[r.IntN(2)*20:]
		if step%1000 == 0 && among == 12 {
			for name, x := range want {
				s.remove(x)
				delete(want, name)
			}
		}
		if got := s.find([]byte(name), Hash([]byte(name))); got != want[name] {
			t.Fatalf("step %d: %q is found as %v, want %v", step, name, got, want[name])
		}
		if x := want[name]; x != nil {
			s.remove(x)
			delete(want, name)
		} else {
			x := newText([]byte(name))
			s.add(x)
			want[name] = x
		}
		if s.len() != len(want) {
			t.Fatalf("step %d: %d texts, want %d", step, s.len(), len(want))
		}
	}
}
