package incident

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"
)

// long is a value of so many bytes.
func long(of string, n int) string { return of + strings.Repeat("x", n) }

// within fails the test unless the store holds no more bytes than it may, and counts them.
func (s *script) within() {
	s.Helper()
	s.store.check(s)
	if s.store.bytes > s.store.limit {
		s.Errorf("%d bytes, want %d at most", s.store.bytes, s.store.limit)
	}
}

func TestNoIncidentIsOpenedWhenAllHoldTooManyBytes(t *testing.T) {
	for _, c := range []Config{grouped(t, "match.Host"), graphed(t, "match.Host")} {
		t.Run(string(c.Mode), func(t *testing.T) {
			s := play(t, c)
			s.store.limit = 10_000
			for _, tc := range []struct {
				name, text string
				refused    int
			}{
				{"a value that never fits", "r high Host=" + long("a", 20_000), 1},
				{"a sample that never fits", "r high Host=a Other=" + long("a", 20_000), 1},
				{"one that fits", "r high Host=a Other=" + long("a", 8000), 0},
				{"one that fits no more", "r high Host=" + long("b", 3000), 1},
				{"one of the open incident", "r high Host=a", 0},
			} {
				id, o := s.assign(tc.text)
				same(t, tc.name, o.Refused, tc.refused)
				same(t, tc.name+" has no incident", id == "-", tc.refused == 1)
				s.within()
			}
			s.to(10_000)
			same(t, "bytes at the end", s.store.bytes, 0)
			_, o := s.assign("r high Host=" + long("b", 2000))
			same(t, "refused at the end", o.Refused, 0)
		})
	}
}

func TestAnOpenIncidentKeepsNoMoreResultsThanFit(t *testing.T) {
	for _, mode := range []Config{grouped(t, "match.Host"), graphed(t, "match.Host")} {
		for _, include := range []Include{Refs, Results} {
			c := mode
			c.Include = include
			t.Run(fmt.Sprint(c.Mode, include), func(t *testing.T) {
				s := play(t, c)
				s.store.limit = 9000
				first, _ := s.assign("first high Host=a")
				for i, n := range []int{3000, 20_000, 3000, 3000, 100} {
					id, _ := s.assign(fmt.Sprintf("r%d high Host=a Other=%s", i, long("v", n)))
					same(t, "incident", id, first)
					s.within()
				}
				in := s.store.all[0]
				same(t, "results", in.results, 6)
				want := []string{"first", "r0", "r2", "r4"}
				if include == Refs {
					want = nil
					same(t, "refs", len(in.samples.refs), 6)
				}
				same(t, "lines", len(in.samples.lines), len(want))
				for i, line := range in.samples.lines {
					same(t, "line "+want[i], strings.Contains(string(line), `"rule_id":"`+want[i]+`"`), true)
				}
				same(t, "the newest fits", strings.Contains(string(in.samples.newest), `"rule_id":"r4"`), true)
				s.assign("r5 high Host=a Other=" + long("v", 20_000))
				same(t, "the older one stays", strings.Contains(string(s.store.all[0].samples.newest), `"rule_id":"r4"`), true)
				data := s.store.Export()
				s.store.Assign(hit(t, "r6 high Host=a"), 0)
				s.within()
				same(t, "exported", data.Len(), 1)
			})
		}
	}
}

// Values that fit into no set lead to their incident as long as there is room for those.
func TestValuesThatDoNotFitAreLeftOut(t *testing.T) {
	s := play(t, graphed(t, "match.Host", "match.User"))
	s.store.limit = 10_000
	first, _ := s.assign("r high Host=a")
	big := "r high Host=a User=" + long("u", 20_000)
	for range 2 {
		id, o := s.assign(big)
		same(t, "incident", id, first)
		same(t, "unindexed", o.Unindexed, 0)
		s.within()
	}
	id, _ := s.assign("r high User=" + long("u", 20_000))
	same(t, "incident of the value that is left out", id, first)
	same(t, "values that are shown", len(s.store.all[0].owned), 1)
}

// What leads nowhere is forgotten when it is much, too, not only when it is many.
func TestValuesThatLeadNowhereHaveABound(t *testing.T) {
	c := graphed(t, "match.Host")
	c.MaxOpen = 0
	store := New(c, numberedIDs())
	r := hit(t, "r high Host=x")
	value := strings.Repeat("v", 1<<20)
	for i := range 200 {
		setField(r, 0, fmt.Sprint(i, value))
		store.Assign(r, 0)
		if n := store.values.unownedBytes; n > maxBeyond+2<<20 {
			t.Fatalf("%d bytes lead nowhere", n)
		}
	}
}

func TestMergedIncidentsHoldTheirBytesOnce(t *testing.T) {
	for _, include := range []Include{Refs, Results} {
		c := graphed(t, "match.Host", "match.User")
		c.Include, c.MaxResults, c.MaxEntities = include, 2, 2
		s := play(t, c)
		for i := range 6 {
			s.assign(fmt.Sprintf("r high Host=a User=u%d", i))
			s.assign(fmt.Sprintf("r high Host=b User=w%d", i))
			s.assign(fmt.Sprintf("r high Host=c%d User=z", i))
		}
		same(t, "incidents", len(s.store.all), 3)
		s.assign("r high Host=b User=z")
		s.within()
		s.assign("r high Host=a User=z")
		same(t, "incidents behind the merges", len(s.store.all), 1)
		s.within()
		same(t, "results", s.store.all[0].results, 20)
		same(t, "id", s.store.all[0].id, "I1")
		s.to(10_000)
		same(t, "bytes at the end", s.store.bytes, 0)
	}
}

// The oldest incident lives on, but it is the shorter list of values that moves.
func TestMergesMoveTheShorterList(t *testing.T) {
	c := graphed(t, "match.Host", "match.User")
	c.MaxOpen, c.MaxEntities, c.MaxCardinality = 10_000, 100_000, 100_000
	const old, large = 1000, 20_000
	store := New(c, numberedIDs())
	r := hit(t, "r high Host=x User=x")
	assign := func(host, user string, now int64) string {
		setField(r, 0, host)
		setField(r, 1, user)
		ref, _ := store.Assign(r, now)
		return store.ID(ref)
	}
	for i := range old {
		assign(fmt.Sprint("old", i), fmt.Sprint("u", i), int64(i))
	}
	for i := range large {
		assign("everywhere", fmt.Sprint("w", i), old)
	}
	first, _ := store.Find("I1")
	store.Name(first)
	for i := old - 1; i >= 0; i-- {
		same(t, "the oldest lives on", assign("everywhere", fmt.Sprint("u", i), old+1), fmt.Sprintf("I%d", i+1))
	}
	store.check(t)
	same(t, "incidents", len(store.all), 1)
	in := store.all[0]
	same(t, "first result", in.first, 0)
	same(t, "results", in.results, old+large+old)
	same(t, "values", len(in.owned), 2*old+large+1)
	same(t, "alerts that name it", in.node.names, 1)
	same(t, "an older reference", store.ID(first), "I1")
	if n := 2*old + large + 1; store.moves > n*bits.Len(uint(n)) {
		t.Errorf("%d values were moved for %d", store.moves, n)
	}
	if want := 2 * old; store.moves != want {
		t.Errorf("%d values were moved, want those of the small incidents, which are %d", store.moves, want)
	}
	var told []string
	store.Tick(old+100, loud, func(r *Record) { told = append(told, fmt.Sprint(r.Trigger(), r.ID())) })
	same(t, "records", strings.Join(told, " "), "group_waitI1")
}

// BenchmarkMergeIntoAnOlderIncident merges an incident with many values into one without.
func BenchmarkMergeIntoAnOlderIncident(b *testing.B) {
	c := graphed(b, "match.Host", "match.User")
	c.MaxOpen, c.MaxEntities, c.MaxCardinality = 1<<30, 1<<30, 1<<30
	store := New(c, numberedIDs())
	r := hit(b, "r high Host=x User=x")
	now := int64(1 << 40)
	for i := range 200_000 {
		setField(r, 0, "everywhere")
		setField(r, 1, fmt.Sprint("w", i))
		store.Assign(r, now)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		now--
		setField(r, 0, fmt.Sprint("h", i))
		setField(r, 1, fmt.Sprint("u", i))
		store.Assign(r, now)
		setField(r, 0, "everywhere")
		store.Assign(r, now)
	}
}
