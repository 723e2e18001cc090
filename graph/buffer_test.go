package graph

import "testing"

func TestAChunkComesBackWithItsLastShare(t *testing.T) {
	back := 0
	c := NewBuffer(make([]byte, 8), func(*Buffer) { back++ })
	other := NewBuffer(make([]byte, 8), func(*Buffer) { t.Error("a chunk came back that somebody needs") })
	c.Retain(3)
	lines := []Line{{Buffer: c}, {Buffer: c}, {Buffer: other}, {}, {Buffer: c}}
	other.Retain(1)
	ReleaseLines(lines)
	if back != 0 {
		t.Errorf("came back %d times while its maker has a share", back)
	}
	ReleaseLines(lines) // they have no shares any more
	c.Release(1)
	if back != 1 {
		t.Errorf("came back %d times, want once", back)
	}
	c.Retain(1)
	c.Release(1)
	if back != 2 {
		t.Errorf("came back %d times, want once more after it was used again", back)
	}
}

func TestALineWithoutAChunkOwesNothing(*testing.T) {
	ReleaseLines([]Line{{Raw: []byte("a")}, {}})
	var none *Buffer
	none.Retain(1)
	none.Release(1)
}
