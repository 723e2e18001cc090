package silence

import (
	"slices"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/due"
)

// Set holds silences and finds those that mute a result. It is for one goroutine.
//
// States are told by the time alone, which may go back. A silence whose start has not been
// reached costs a result nothing.
type Set struct {
	static, api []*item          // of the configuration in its order, of the API in order of creation
	byID        map[string]*item // those of the API
	index       index
	starts      due.Queue[*item] // of silences that are not yet in the index
	ends        due.Queue[*item]
	released    uint64
}

// NewSet returns an empty set.
func NewSet() *Set { return &Set{index: newIndex(), byID: make(map[string]*item)} }

// Replace makes these the silences of the configuration, in this order.
func (s *Set) Replace(static []*Silence) {
	for _, it := range s.static {
		s.release(it)
	}
	s.static = nil
	for _, x := range static {
		s.static = append(s.static, s.hold(x))
	}
	s.tidy()
}

// Add adds a silence of the API, in place of one of its id.
func (s *Set) Add(x *Silence) {
	if old := s.byID[x.ID]; old != nil {
		s.removeAPI(old)
	}
	it := s.hold(x)
	s.api = append(s.api, it)
	s.byID[x.ID] = it
	s.tidy()
}

// Find returns the silence of an id, nil if there is none; of two with the same id that of
// the configuration.
func (s *Set) Find(id string) *Silence {
	if i := s.findStatic(id); i >= 0 {
		return s.static[i].Silence
	}
	if it := s.byID[id]; it != nil {
		return it.Silence
	}
	return nil
}

func (s *Set) findStatic(id string) int {
	return slices.IndexFunc(s.static, func(it *item) bool { return it.ID == id })
}

// Remove removes the silence that Find returns, whatever its state; false if there is none.
func (s *Set) Remove(id string) bool {
	if i := s.findStatic(id); i >= 0 {
		s.release(s.static[i])
		s.static = slices.Delete(s.static, i, i+1)
	} else if it := s.byID[id]; it != nil {
		s.removeAPI(it)
	} else {
		return false
	}
	s.tidy()
	return true
}

func (s *Set) removeAPI(it *item) {
	s.release(it)
	delete(s.byID, it.ID)
	i := slices.Index(s.api, it)
	s.api = slices.Delete(s.api, i, i+1)
}

// Stored is how many silences of the API the set holds, in whatever state.
func (s *Set) Stored() int { return len(s.api) }

// Mutes reports whether a silence mutes r at now.
func (s *Set) Mutes(r *graph.Result, now int64) bool {
	s.start(now)
	return s.index.matches(r, now, true) != nil
}

// MutesSample returns a silence that mutes at now what was a result with its event, nil if
// there is none: those that read the event do not mute it any more.
func (s *Set) MutesSample(r *graph.Result, now int64) *Silence {
	s.start(now)
	if it := s.index.matches(r, now, false); it != nil {
		return it.Silence
	}
	return nil
}

// Released is how many silences were let go so far. It only grows.
func (s *Set) Released() uint64 { return s.released }

// Expire removes the silences that are expired at now and returns them.
func (s *Set) Expire(now int64) (gone []*Silence) {
	s.start(now)
	expired := false
	for {
		it, ok := s.ends.Pop(now)
		if !ok {
			break
		}
		expired = expired || it.held // its end never moves
	}
	if !expired {
		return nil
	}
	for _, list := range []*[]*item{&s.static, &s.api} {
		*list = slices.DeleteFunc(*list, func(it *item) bool {
			if it.State(now) != Expired {
				return false
			}
			s.release(it)
			if it == s.byID[it.ID] {
				delete(s.byID, it.ID)
			}
			gone = append(gone, it.Silence)
			return true
		})
	}
	s.tidy()
	return gone
}

// List returns the silences: those of the configuration in its order, then those of the API
// in order of creation.
func (s *Set) List() []*Silence {
	all := make([]*Silence, 0, len(s.static)+len(s.api))
	for it := range s.each {
		all = append(all, it.Silence)
	}
	return all
}

// Counts returns how many silences are active at now, and how many there are.
func (s *Set) Counts(now int64) (active, total int) {
	for it := range s.each {
		if it.active(now) {
			active++
		}
	}
	return active, len(s.static) + len(s.api)
}

// each yields every silence in the order of List.
func (s *Set) each(yield func(*item) bool) {
	for _, list := range [][]*item{s.static, s.api} {
		for _, it := range list {
			if !yield(it) {
				return
			}
		}
	}
}

// hold takes a silence in.
func (s *Set) hold(x *Silence) *item {
	it := &item{Silence: x, held: true}
	if x.HasStart {
		s.starts.Add(x.StartsAt, it)
	} else {
		s.index.add(it)
	}
	if x.HasEnd {
		s.ends.Add(x.EndsAt, it)
	}
	return it
}

// release lets a silence go. What the queues have of it stays until it is due, or tidy.
func (s *Set) release(it *item) {
	it.held = false
	s.released++
	if it.home != nil {
		s.index.remove(it)
	}
}

// start takes into the index what has started. It stays there if the clock goes back.
func (s *Set) start(now int64) {
	for {
		it, ok := s.starts.Pop(now)
		if !ok {
			return
		}
		if it.held && it.home == nil {
			s.index.add(it)
		}
	}
}

// tidy makes the queues anew when most of what they have was let go.
func (s *Set) tidy() {
	const least = 64
	held := len(s.static) + len(s.api)
	if s.starts.Len() <= 2*held+least && s.ends.Len() <= 2*held+least {
		return
	}
	s.starts.Reset()
	s.ends.Reset()
	for it := range s.each {
		if it.home == nil {
			s.starts.Add(it.StartsAt, it)
		}
		if it.HasEnd {
			s.ends.Add(it.EndsAt, it)
		}
	}
}
