package incident

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/result"
)

func extra(event string) *result.Extra { return &result.Extra{Event: []byte(event)} }

// assign assigns a result at second 0, and returns the id of its incident.
func (s *script) assign(text string) (string, Outcome) {
	s.Helper()
	ref, o := s.store.Assign(hit(s.T, text), s.now)
	if id := s.store.ID(ref); id != "" {
		return id, o
	}
	return "-", o
}

// check fails the test if the index and the incidents contradict each other.
func (s *Store) check(tb testing.TB) {
	tb.Helper()
	leads, unowned, beyond := 0, 0, 0
	for i := range s.values.parts {
		p := &s.values.parts[i]
		n := 0
		for at, h := range p.hashes {
			if h == 0 {
				continue
			}
			n++
			x := &p.slots[at]
			if x.owner == nil {
				unowned++
			} else {
				leads++
				if x.owner.at == gone || s.all[x.owner.at].node != x.owner {
					tb.Fatalf("a key leads to an incident that is gone")
				}
			}
			key := s.keyOf(x)
			if got := s.slotOf(key); got != x {
				tb.Fatalf("key %q is not found", key)
			}
		}
		same2(tb, "values of a part", p.n, n)
	}
	for _, key := range s.values.unowned {
		if key != "" {
			unowned--
		}
	}
	same2(tb, "values without an incident that are not listed", unowned, 0)
	for i, c := range s.all {
		same2(tb, "place", int(c.node.at), i)
		leads -= len(c.owned)
		seen := make(map[string]bool)
		for key := range c.set {
			if seen[key] {
				tb.Fatalf("%s has %q twice", c.id, key)
			}
			seen[key] = true
		}
		if c.more == nil {
			continue
		}
		leads -= len(c.more.beyond)
		for _, key := range c.more.beyond {
			beyond += len(key) + keyCost
			if seen[key] {
				tb.Fatalf("%s has %q in its set and beside it", c.id, key)
			}
		}
		for _, key := range c.more.foreign {
			if x := s.slotOf(key); x != nil && x.owner == c.node {
				tb.Fatalf("the foreign key %q of %s leads to it", key, c.id)
			}
		}
	}
	same2(tb, "keys that no incident lists", leads, 0)
	same2(tb, "bytes beside the sets", s.values.beyond, beyond)
	held := 0
	for _, c := range s.all {
		same2(tb, "bytes of "+c.id, c.held, c.weigh())
		held += c.held
	}
	same2(tb, "bytes of all", s.bytes, held)
}

// weigh counts the bytes that an incident holds.
func (c *content) weigh() int {
	n := 0
	for key := range c.set {
		n += len(key)
	}
	if c.by != nil {
		n += len(c.by.key) + cap(c.by.object)
	}
	in := false
	for _, line := range c.samples.lines {
		n += cap(line)
		in = in || &line[0] == &c.samples.newest[0]
	}
	if !in && c.samples.newest != nil {
		n += cap(c.samples.newest)
	}
	return n
}

func same2[T comparable](tb testing.TB, what string, got, want T) {
	tb.Helper()
	if got != want {
		tb.Fatalf("%s: %v, want %v", what, got, want)
	}
}

func TestStopValuesJoinNothing(t *testing.T) {
	c := graphed(t, "match.SourceIp", "match.User")
	c.StopValues = []string{"0.0.0.0"}
	s := play(t, c)
	stops := 0
	for i, tc := range []struct{ user, id string }{{"alice", "I1"}, {"bob", "I2"}, {"alice", "I1"}} {
		id, o := s.assign("r high SourceIp=0.0.0.0 User=" + tc.user)
		same(t, fmt.Sprint("id of result ", i), id, tc.id)
		stops += o.StopValues
	}
	same(t, "stop values", stops, 3)
	id, o := s.assign("r high SourceIp=0.0.0.0")
	same(t, "incident of a stop value alone", id, "-")
	same(t, "refused", o.Refused, 0)
}

func TestFrequentValuesStillLeadToTheirIncident(t *testing.T) {
	c := graphed(t, "match.SourceIp")
	c.MaxCardinality = 2
	s := play(t, c)
	weak := 0
	for range 4 {
		id, o := s.assign("r high SourceIp=10.0.0.1")
		same(t, "id", id, "I1")
		weak += o.Ceiling
	}
	same(t, "ceiling", weak, 2)
}

func TestFrequentValuesJoinNoIncidents(t *testing.T) {
	c := graphed(t, "match.SourceIp", "match.User")
	c.MaxCardinality = 2
	s := play(t, c)
	for i, tc := range []struct {
		ip, user, id string
		weak         int
	}{{"10.0.0.1", "u1", "I1", 0}, {"10.0.0.1", "u2", "I1", 0}, {"10.0.0.9", "u3", "I2", 0}, {"10.0.0.1", "u3", "I2", 1}} {
		id, o := s.assign("r high SourceIp=" + tc.ip + " User=" + tc.user)
		same(t, fmt.Sprint("id of result ", i), id, tc.id)
		same(t, fmt.Sprint("ceiling of result ", i), o.Ceiling, tc.weak)
	}
	e, _ := s.store.Export().Find("I2")
	same(t, "entities", fmt.Sprint(e.Entities()), "[{match.SourceIp [10.0.0.1 10.0.0.9]} {match.User [u3]}]")
	same(t, "incidents", s.store.Export().Len(), 2)
	s.store.check(t)
}

func TestResultsWithoutEntitiesHaveNoIncident(t *testing.T) {
	s := play(t, graphed(t, "match.SourceIp", "match.User"))
	for _, text := range []string{"r high", "r high Other=x", "r high User=null", `r high User=""`} {
		id, o := s.assign(text)
		same(t, "id of "+text, id, "-")
		same(t, "outcome of "+text, o, Outcome{})
	}
	open, _ := s.store.Counts()
	same(t, "open", open, 0)
}

// The value alice leads to the incident, although its set has no room for a second address.
func TestValuesThatDidNotFit(t *testing.T) {
	c := graphed(t, "match.SourceIp", "match.User")
	c.MaxEntities, c.Resolve, c.Wait = 1, 10, 0
	s := play(t, c)
	same(t, "first", s.at(0, "r high SourceIp=10.0.0.1 User=alice"), "I1")
	same(t, "second", s.at(1, "r high SourceIp=10.0.0.2 User=alice"), "I1")
	same(t, "by what did not fit", s.at(1, "r high SourceIp=10.0.0.2 User=carol"), "I1")
	s.store.check(t)
	s.to(12)
	open, _ := s.store.Counts()
	same(t, "open at 12", open, 0)
	same(t, "third", s.at(20, "r high SourceIp=10.0.0.2 User=zed"), "I2")
	if e, _ := s.store.Export().Find("I2"); fmt.Sprint(e.Entities()) != "[{match.SourceIp [10.0.0.2]} {match.User [zed]}]" {
		t.Error(e.Entities())
	}
	s.store.check(t)

	c.MaxEntities = 2 // there is room now, for what comes again
	s.at(21, "r high SourceIp=10.0.0.3 User=zed")
	s.at(21, "r high SourceIp=10.0.0.4 User=zed")
	s.store.Configure(c)
	s.at(22, "r high SourceIp=10.0.0.4")
	if e, _ := s.store.Export().Find("I2"); fmt.Sprint(e.Entities()) != "[{match.SourceIp [10.0.0.2 10.0.0.4]} {match.User [zed]}]" {
		t.Error(e.Entities())
	}
	s.store.check(t)
}

func TestMergesOfManyIncidents(t *testing.T) {
	for _, n := range []int{2, 3, 10} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var fields []string
			for i := range n {
				fields = append(fields, fmt.Sprintf("match.F%d", i))
			}
			c := graphed(t, fields...)
			c.Wait = 5
			s := play(t, c)
			refs := make([]Ref, n)
			var all []string
			for i := range n {
				one := fmt.Sprintf("F%d=v%d", i, i)
				all = append(all, one)
				s.to(int64(i))
				refs[i], _ = s.store.Assign(hit(t, fmt.Sprintf("r%d low %s", i, one)), int64(i))
				s.store.Name(refs[i])
			}
			slices.Reverse(all)
			s.to(int64(n))
			s.got = nil
			same(t, "incidents before", s.store.Export().Len(), n)
			ref, _ := s.store.Assign(hit(t, "join critical "+strings.Join(all, " ")), int64(n))
			same(t, "survivor", s.store.ID(ref), "I1")
			for i, old := range refs {
				same(t, fmt.Sprint("id of ", i), s.store.ID(old), "I1")
			}
			e, _ := s.store.Export().Find("I1")
			same(t, "incidents behind", s.store.Export().Len(), 1)
			same(t, "results", e.ResultCount(), int64(n)+1)
			same(t, "rules", len(e.RuleCounts()), n+1)
			same(t, "refs", len(e.content.samples.refs), n+1)
			same(t, "selectors", len(e.Entities()), n)
			same(t, "level", e.MaxLevel().String(), "critical")
			same(t, "first", e.FirstSeen(), 0)
			same(t, "last", e.LastSeen(), int64(n))
			for i := range n {
				id, _ := s.assign(fmt.Sprintf("r high F%d=v%d", i, i))
				same(t, "id of a value", id, "I1")
			}
			s.store.check(t)
			// All alerts name the survivor: it ends when the last of them is over.
			s.to(4000)
			s.got = nil
			for i, old := range refs {
				s.to(int64(5000 + i))
				same(t, "records", len(s.got), 0)
				s.store.Unname(old)
			}
			s.to(6000)
			s.want(fmt.Sprintf("%d I1 resolved n=%d last=%d critical", 5000+n-1, 2*n+1, n))
			for _, old := range refs {
				same(t, "id afterwards", s.store.ID(old), "")
			}
			s.store.check(t)
		})
	}
}

func TestMergesOfWhatWasReported(t *testing.T) {
	mute := func(line []byte) bool { return strings.Contains(string(line), `"quiet"`) }
	t.Run("an older incident that waits takes the times of a younger one that was reported", func(t *testing.T) {
		s := play(t, graphed(t, "match.A", "match.B"))
		s.muted = mute
		s.at(0, "quiet high A=1")
		s.at(5, "r high B=1")
		s.at(50, "r high A=1 B=1")
		s.to(4000)
		s.want("35 I2 group_wait n=1 last=5 high", "335 I1 group_interval n=3 last=50 high", "3650 I1 resolved n=3 last=50 high")
	})
	t.Run("what it waited for before does not count any more", func(t *testing.T) {
		c := graphed(t, "match.A", "match.B")
		c.Wait, c.Interval = 0, 5
		s := play(t, c)
		s.muted = mute
		s.at(0, "quiet high A=1")
		s.at(1, "r high B=1")
		s.to(2)
		c.Wait = 100
		s.store.Configure(c)
		s.to(3)
		s.at(3, "r high A=1 B=1")
		s.to(50)
		s.want("1 I2 group_wait n=1 last=1 high", "6 I1 group_interval n=3 last=3 high")
	})
	t.Run("two that wait go on waiting", func(t *testing.T) {
		s := play(t, graphed(t, "match.A", "match.B"))
		s.at(0, "r high A=1")
		s.at(5, "r high B=1")
		s.at(10, "r high A=1 B=1")
		s.to(100)
		s.want("30 I1 group_wait n=3 last=10 high")
	})
	t.Run("of one age the first of the result stays", func(t *testing.T) {
		s := play(t, graphed(t, "match.A", "match.B"))
		s.at(0, "r high A=1")
		s.at(0, "r high B=1")
		c := graphed(t, "match.B", "match.A")
		s.store.Configure(c)
		same(t, "survivor", s.at(1, "r high A=1 B=1"), "I2")
		s.to(31)
		if !strings.Contains(s.lines[0], `"entities":{"match.B":["1"],"match.A":["1"]}`) {
			t.Errorf("the order of selectors: %s", s.lines[0])
		}
	})
	t.Run("samples are cut, those of the survivor first", func(t *testing.T) {
		c := graphed(t, "match.A", "match.B")
		c.MaxResults, c.MaxEntities = 3, 2
		s := play(t, c)
		for i := range 2 {
			s.at(0, fmt.Sprintf("a%d high A=1", i))
			s.at(0, fmt.Sprintf("b%d high B=%d", i, i))
		}
		s.at(0, "b2 high B=1")
		s.at(1, "join high A=1 B=1 C=1")
		e, _ := s.store.Export().Find("I1")
		same(t, "refs", string(e.content.appendRefs(nil)), `[{"rule":"a0","level":"high"},{"rule":"a1","level":"high"},{"rule":"b1","level":"high"}]`)
		s.store.check(t)
	})
}

// Counts of values that no incident has are forgotten at the next tick, and only those.
func TestCountsOfValuesWithoutAnIncident(t *testing.T) {
	c := graphed(t, "match.A")
	c.MaxOpen, c.MaxCardinality = 1, 1
	s := play(t, c)
	s.assign("r high A=1")
	same(t, "values", s.size(), 1)
	for range 3 {
		s.assign("r high A=2")
		s.assign("r high A=3")
	}
	same(t, "values before the tick", s.size(), 3)
	s.store.check(t)
	s.to(1)
	same(t, "values behind the tick", s.size(), 1)
	_, o := s.assign("r high A=1")
	same(t, "ceiling of a value of an incident", o.Ceiling, 1)
	_, o = s.assign("r high A=2")
	same(t, "ceiling of one that is new again", o.Ceiling, 0)
	c.MaxOpen = 2
	s.store.Configure(c)
	id, _ := s.assign("r high A=2")
	same(t, "id when there is room", id, "I2")
	s.to(2)
	same(t, "values", s.size(), 2)
	s.store.check(t)
	s.to(10_000)
	same(t, "values when all have ended", s.size(), 0)
	same(t, "texts of values", len(s.store.values.unowned), 0)
	s.store.check(t)
}

// size is how many values there are.
func (s *script) size() (n int) {
	for i := range s.store.values.parts {
		n += s.store.values.parts[i].n
	}
	return n
}

// Every value is the second one of its result, so it joins; the first is frequent.
func TestAValueOfAnotherIncidentMovesIn(t *testing.T) {
	c := graphed(t, "match.A", "match.B")
	c.MaxCardinality, c.Wait, c.Resolve = 1, 0, 50
	s := play(t, c)
	s.at(0, "r high A=1")
	s.at(10, "r high B=1")
	same(t, "a foreign value", s.at(20, "r high A=1 B=1"), "I1") // both are frequent: the first pair decides
	same(t, "own", s.at(40, "r high B=1"), "I2")
	s.to(71)
	s.got = nil
	open, _ := s.store.Counts()
	same(t, "open at 71", open, 1)
	s.store.check(t)
	// Now A=1 is new: it leads to the incident in whose set it never was, by B.
	same(t, "by the other value", s.at(75, "r high A=1 B=1"), "I2")
	s.store.check(t)
	same(t, "by the value itself", s.at(80, "r high A=1"), "I2")
}
