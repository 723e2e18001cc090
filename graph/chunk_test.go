package graph

import "testing"

func TestAChunkComesBackWithItsLastShare(t *testing.T) {
	back := 0
	c := NewChunk(make([]byte, 8), func(*Chunk) { back++ })
	other := NewChunk(make([]byte, 8), func(*Chunk) { t.Error("a chunk came back that somebody needs") })
	c.Share(3)
	lines := []Line{{Chunk: c}, {Chunk: c}, {Chunk: other}, {}, {Chunk: c}}
	other.Share(1)
	LeaveLines(lines)
	if back != 0 {
		t.Errorf("came back %d times while its maker has a share", back)
	}
	LeaveLines(lines) // they have no shares any more
	c.Leave(1)
	if back != 1 {
		t.Errorf("came back %d times, want once", back)
	}
	c.Share(1)
	c.Leave(1)
	if back != 2 {
		t.Errorf("came back %d times, want once more after it was used again", back)
	}
}

func TestALineWithoutAChunkOwesNothing(*testing.T) {
	LeaveLines([]Line{{Raw: []byte("a")}, {}})
	var none *Chunk
	none.Share(1)
	none.Leave(1)
}
