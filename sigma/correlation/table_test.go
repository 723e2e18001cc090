package correlation

import (
	"math/rand/v2"
	"testing"
)

// Hashes of few bits collide all the time.
func TestTheTableFindsWhatAMapFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, bits := range []uint64{3, 0xff, 1<<40 - 1} {
		var tab table
		hashes := map[uint32]uint64{}
		for step := range 20_000 {
			slot := r.Uint32N(300)
			if step > 15_000 {
				slot = r.Uint32N(3) + 297*uint32(step%2) // few are left
			}
			switch hash, ok := hashes[slot]; {
			case ok:
				tab.remove(hash, slot)
				delete(hashes, slot)
			case step < 15_000:
				hash = r.Uint64() & bits
				tab.add(hash, slot)
				hashes[slot] = hash
			}
			if tab.n != len(hashes) || 4*tab.n > 3*len(tab.cells) {
				t.Fatalf("%d slots in %d cells, want %d slots", tab.n, len(tab.cells), len(hashes))
			}
			if step%100 == 0 {
				wantSlots(t, &tab, hashes)
			}
		}
	}
}

func wantSlots(t *testing.T, tab *table, hashes map[uint32]uint64) {
	t.Helper()
	for slot, hash := range hashes {
		i := uint32(hash)
		for tab.at(i).slot != slot+1 {
			if tab.at(i).slot == 0 {
				t.Fatalf("slot %d is not found", slot)
			}
			i++
		}
	}
}

func TestTheTableShrinksAfterABurst(t *testing.T) {
	var tab table
	for slot := range uint32(10_000) {
		tab.add(uint64(slot)*0x9e3779b97f4a7c15, slot)
	}
	for slot := range uint32(10_000) {
		tab.remove(uint64(slot)*0x9e3779b97f4a7c15, slot)
	}
	if tab.n != 0 || len(tab.cells) > minCells {
		t.Errorf("%d slots and %d cells are left, want none and %d", tab.n, len(tab.cells), minCells)
	}
}
