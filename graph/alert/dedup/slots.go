package dedup

// slots is memory for alerts that never moves.
type slots struct {
	blocks []*[perBlock]Alert
	used   int     // slots that were ever in use
	free   []int32 // of these
}

const perBlock = 256

// at returns a slot that was in use before.
func (s *slots) at(n int32) *Alert { return &s.blocks[n/perBlock][n%perBlock] }

// take returns a slot that is not in use.
func (s *slots) take() *Alert {
	if last := len(s.free) - 1; last >= 0 {
		a := s.at(s.free[last])
		s.free = s.free[:last]
		return a
	}
	if s.used == perBlock*len(s.blocks) {
		s.blocks = append(s.blocks, new([perBlock]Alert))
	}
	n := int32(s.used)
	s.used++
	a := s.at(n)
	a.slot = n
	return a
}

// give takes a slot back.
func (s *slots) give(a *Alert) {
	*a = Alert{slot: a.slot}
	s.free = append(s.free, a.slot)
}

// all yields the alerts in use.
func (s *slots) all(yield func(*Alert) bool) {
	for i := range s.used {
		if a := s.at(int32(i)); a.opening != nil && !yield(a) {
			return
		}
	}
}

// many reports whether the memory is more than a few alerts need.
func (s *slots) many() bool { return len(s.blocks) > 4 }
