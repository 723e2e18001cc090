package incident

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// model does what a Store does, slowly and simply: it looks at every incident at each tick,
// and keeps values in maps.
type model struct {
	c         Config
	selectors []string
	incidents map[string]*modelIncident
	index     map[modelPair]string
	counts    map[modelPair]int
	newID     func() string
}

type modelPair struct{ selector, value string }

type modelIncident struct {
	id                           string
	first, last, emitted, report int64
	opened, dirty                bool
	names                        int
	group                        []string // values of the selectors, nil in an entity graph
	sets                         map[string][]string
	keys                         []modelPair
	rules                        map[string]int
	results, level               int
	refs                         []string
	newest                       string
	into                         *modelIncident
}

// modelResult is a result as the model sees it.
type modelResult struct {
	rule   string
	level  int
	values map[string]string // by selector; those that are absent are not there
}

var modelLevels = []string{"-", "informational", "low", "medium", "high", "critical"}

func (r modelResult) text() string {
	words := []string{r.rule, modelLevels[r.level]}
	for _, sel := range slices.Sorted(maps.Keys(r.values)) {
		words = append(words, strings.TrimPrefix(sel, "match.")+"="+strconv.Quote(r.values[sel]))
	}
	return strings.Join(words, " ")
}

func newModel(c Config, newID func() string) *model {
	m := &model{incidents: make(map[string]*modelIncident), index: make(map[modelPair]string), counts: make(map[modelPair]int), newID: newID}
	m.configure(c)
	return m
}

func (m *model) configure(c Config) {
	m.c, m.selectors = c, nil
	for _, sel := range slices.Concat(c.By, c.Entities) {
		m.selectors = append(m.selectors, sel.String())
	}
}

func (m *model) assign(r modelResult, now int64) (string, Outcome) {
	var o Outcome
	if m.c.Mode == GroupBy {
		var group []string
		for _, sel := range m.selectors {
			v, ok := r.values[sel]
			if !ok {
				v = "null"
			}
			group = append(group, v)
		}
		for id, in := range m.incidents {
			if in.group != nil && slices.Equal(in.group, group) {
				m.absorb(in, r, now)
				return id, o
			}
		}
		in := m.open("", now, &o)
		if in == nil {
			return "", o
		}
		in.group = group
		in.id = "group " + strings.Join(group, "/")
		m.incidents[in.id] = in
		m.absorb(in, r, now)
		return in.id, o
	}
	type pair struct {
		modelPair
		weak bool
	}
	var pairs []pair
	for _, sel := range m.selectors {
		v := r.values[sel]
		switch {
		case v == "":
		case slices.Contains(m.c.StopValues, v):
			o.StopValues++
		default:
			p := modelPair{sel, v}
			m.counts[p]++
			weak := m.counts[p] > m.c.MaxCardinality
			if weak {
				o.Ceiling++
			}
			pairs = append(pairs, pair{p, weak})
		}
	}
	if len(pairs) == 0 {
		return "", o
	}
	var touched []*modelIncident
	touch := func(weak bool) {
		for _, p := range pairs {
			if in := m.incidents[m.index[p.modelPair]]; in != nil && p.weak == weak && !slices.Contains(touched, in) {
				touched = append(touched, in)
			}
		}
	}
	touch(false)
	if len(touched) == 0 {
		touch(true)
		touched = touched[:min(1, len(touched))]
	}
	var in *modelIncident
	if len(touched) == 0 {
		if in = m.open("?", now, &o); in == nil {
			return "", o
		}
		in.id = m.newID()
		m.incidents[in.id] = in
	} else {
		in = slices.MinFunc(touched, func(a, b *modelIncident) int { return cmp.Compare(a.first, b.first) })
		for _, victim := range touched {
			if victim != in {
				m.merge(in, victim)
			}
		}
	}
	for _, p := range pairs {
		in.take(p.modelPair, m.c.MaxEntities)
		if owner, ok := m.index[p.modelPair]; !ok || !p.weak && owner != in.id {
			m.index[p.modelPair] = in.id
			in.keys = append(in.keys, p.modelPair)
		}
	}
	m.absorb(in, r, now)
	return in.id, o
}

func (m *model) open(id string, now int64, o *Outcome) *modelIncident {
	if len(m.incidents) >= m.c.MaxOpen {
		o.Refused++
		return nil
	}
	return &modelIncident{id: id, first: now, sets: make(map[string][]string), rules: make(map[string]int)}
}

func (in *modelIncident) take(p modelPair, limit int) {
	if set := in.sets[p.selector]; len(set) < limit && !slices.Contains(set, p.value) {
		in.sets[p.selector] = append(set, p.value)
	}
}

func (m *model) absorb(in *modelIncident, r modelResult, now int64) {
	in.last, in.dirty, in.newest = now, true, r.rule
	in.results++
	in.level = max(in.level, r.level)
	in.rules[r.rule]++
	if len(in.refs) < m.c.MaxResults {
		ref := `{"rule":"` + r.rule + `"`
		if r.level > 0 {
			ref += `,"level":"` + modelLevels[r.level] + `"`
		}
		in.refs = append(in.refs, ref+"}")
	}
}

func (m *model) merge(in, victim *modelIncident) {
	delete(m.incidents, victim.id)
	if len(victim.keys) > len(in.keys) { // the values of the larger one stay in a full set
		in.sets, victim.sets = victim.sets, in.sets
	}
	for _, p := range victim.keys {
		m.index[p] = in.id
	}
	in.keys = append(in.keys, victim.keys...)
	in.names += victim.names
	in.first, in.last = min(in.first, victim.first), max(in.last, victim.last)
	in.emitted, in.report = max(in.emitted, victim.emitted), max(in.report, victim.report)
	in.opened = in.opened || victim.opened
	in.results += victim.results
	for rule, n := range victim.rules {
		in.rules[rule] += n
	}
	in.level = max(in.level, victim.level)
	for sel, set := range victim.sets {
		for _, v := range set {
			in.take(modelPair{sel, v}, m.c.MaxEntities)
		}
	}
	in.refs = append(in.refs, victim.refs[:max(0, min(len(victim.refs), m.c.MaxResults-len(in.refs)))]...)
	in.dirty = true
	victim.into = in
}

func (m *model) resolve(in *modelIncident) {
	delete(m.incidents, in.id)
	for _, p := range in.keys {
		delete(m.index, p)
		delete(m.counts, p)
	}
}

func (m *model) tick(now int64, muted func(rule string) bool, emit func(in *modelIncident, t Trigger)) {
	for p := range m.counts {
		if _, owned := m.index[p]; !owned {
			delete(m.counts, p)
		}
	}
	for _, in := range m.sorted() {
		idle := now-in.last >= m.c.Resolve && in.names == 0
		switch {
		case !in.opened:
			if now-in.first < m.c.Wait {
				break
			}
			if !muted(in.newest) {
				in.opened, in.dirty, in.emitted, in.report = true, false, now, now
				emit(in, GroupWait)
			} else if idle {
				m.resolve(in)
			}
		case idle:
			emit(in, Resolved)
			m.resolve(in)
		case in.dirty && now-in.report >= m.c.Interval && !muted(in.newest):
			in.dirty, in.emitted, in.report = false, now, now
			emit(in, GroupInterval)
		case m.c.Repeat > 0 && now-in.emitted >= m.c.Repeat && !muted(in.newest):
			in.emitted = now
			emit(in, Repeat)
		}
	}
}

func (m *model) sorted() []*modelIncident {
	all := slices.Collect(maps.Values(m.incidents))
	slices.SortFunc(all, func(a, b *modelIncident) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.id, b.id)) })
	return all
}

// brief is what is compared of an incident.
func (m *model) brief(in *modelIncident) string {
	var sets []string
	for _, sel := range m.selectors {
		if set := in.sets[sel]; len(set) > 0 && in.group == nil {
			sets = append(sets, fmt.Sprint(sel, slices.Sorted(slices.Values(set))))
		}
	}
	rules, _ := json.Marshal(in.rules)
	return fmt.Sprintf("%d-%d n=%d %s %s %v [%s]", in.first, in.last, in.results, modelLevels[in.level], rules, sets, strings.Join(in.refs, ","))
}

func (c *content) brief(l *layout) string {
	var sets []string
	for _, e := range c.entities(l) {
		sets = append(sets, fmt.Sprint(e.Selector, e.Values))
	}
	level := c.level.String()
	if level == "" {
		level = "-"
	}
	return fmt.Sprintf("%d-%d n=%d %s %s %v %s", c.first, c.last, c.results, level, c.appendCounts(nil), sets, c.appendRefs(nil))
}

// twins are a store and its model.
type twins struct {
	testing.TB
	store *Store
	model *model
	newID func() string
	r     *rand.Rand
	now   int64
	quiet bool
	named []named
}

type named struct {
	ref Ref
	in  *modelIncident
}

// name is the id of an incident: that of a group is made of its digest in the store.
func (x *twins) name(n *node) string {
	c := x.store.all[n.at]
	if c.by == nil {
		return c.id
	}
	var group []string
	for key := c.by.key; key != ""; {
		size, rest, _ := strings.Cut(key, ":")
		at, _ := strconv.Atoi(size)
		group, key = append(group, rest[:at]), rest[at:]
	}
	var values []string
	for i := 1; i < len(group); i += 2 {
		values = append(values, group[i])
	}
	return "group " + strings.Join(values, "/")
}

func (x *twins) assign() {
	x.Helper()
	r := modelResult{rule: string(rune('p' + x.r.IntN(3))), level: x.r.IntN(6), values: make(map[string]string)}
	for _, sel := range x.model.selectors {
		if x.r.IntN(3) > 0 {
			r.values[sel] = strconv.Itoa(x.r.IntN(8))
		}
	}
	id, want := x.model.assign(r, x.now)
	ref, got := x.store.Assign(hit(x, r.text()), x.now)
	same2(x, "outcome", got, want)
	name := ""
	if n := ref.resolve(); n != nil {
		name = x.name(n)
	}
	same2(x, "incident of "+r.text(), name, id)
	if id != "" && x.r.IntN(4) == 0 {
		x.store.Name(ref)
		in := x.model.incidents[id]
		in.names++
		x.named = append(x.named, named{ref, in})
	}
}

func (x *twins) refresh() {
	if len(x.named) == 0 {
		return
	}
	i := x.r.IntN(len(x.named))
	in := x.named[i].in
	for in.into != nil {
		in = in.into
	}
	if x.r.IntN(2) == 0 {
		x.store.Refresh(x.named[i].ref, "p", x.now)
		in.last = x.now
		in.results++
		in.rules["p"]++
		return
	}
	x.store.Unname(x.named[i].ref)
	in.names--
	x.named = slices.Delete(x.named, i, i+1)
}

func (x *twins) tick() {
	x.Helper()
	var got, want []string
	x.model.tick(x.now, func(rule string) bool { return x.quiet && rule == "q" }, func(in *modelIncident, t Trigger) {
		want = append(want, string(t)+" "+x.model.brief(in))
	})
	x.store.Tick(x.now, func(line []byte) bool { return x.quiet && bytes.Contains(line, []byte(`"rule_id":"q"`)) }, func(r *Record) {
		got = append(got, string(r.Trigger())+" "+r.brief(r.layout))
	})
	if x.model.c.Mode == GroupBy { // ids of groups differ, and so does the order within a second
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		x.Fatalf("records at %d:\n%s\nwant\n%s", x.now, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (x *twins) compare() {
	x.Helper()
	x.store.check(x)
	var got, want []string
	v := x.store.Export()
	for e := range v.Each {
		got = append(got, e.content.brief(v.layout))
	}
	for _, in := range x.model.sorted() {
		want = append(want, x.model.brief(in))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		x.Fatalf("incidents:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// cut saves the store and goes on with another one. The names of alerts are given again.
func (x *twins) cut() {
	x.Helper()
	var ids []string
	for _, one := range x.named {
		ids = append(ids, x.store.ID(one.ref))
	}
	x.store = reopened(x, x.store, x.store.config, x.newID)
	for i, id := range ids {
		ref, ok := x.store.Find(id)
		if !ok {
			x.Fatalf("incident %s was not restored", id)
		}
		x.store.Name(ref)
		x.named[i].ref = ref
	}
	clear(x.model.counts)
}

// reopened is a store with the state of another one.
func reopened(tb testing.TB, s *Store, c Config, newID func() string) *Store {
	tb.Helper()
	var saved, again bytes.Buffer
	if err := s.Export().Encode(&saved); err != nil {
		tb.Fatal(err)
	}
	store := New(c, newID)
	n, err := store.Restore(saved.Bytes(), 0)
	if err != nil || n != len(s.all) {
		tb.Fatalf("restored %d incidents of %d: %v", n, len(s.all), err)
	}
	if err = store.Export().Encode(&again); err != nil {
		tb.Fatal(err)
	}
	if !bytes.Equal(saved.Bytes(), again.Bytes()) {
		tb.Fatalf("saved\n%s\nand again\n%s", saved.Bytes(), again.Bytes())
	}
	return store
}

func randomConfig(tb testing.TB, r *rand.Rand) Config {
	tb.Helper()
	c := graphed(tb, "match.A", "match.B", "match.C")
	if r.IntN(4) == 0 {
		c = grouped(tb, "match.A", "match.B")
	}
	c.Wait, c.Interval, c.Repeat, c.Resolve = r.Int64N(4), r.Int64N(12), r.Int64N(10), 1+r.Int64N(14)
	c.MaxOpen, c.MaxResults = 1+r.IntN(12), r.IntN(12)
	// Which values of a full set stay when foreign ones come in is nobody's business.
	switch r.IntN(3) {
	case 0:
		c.MaxEntities = r.IntN(4)
	case 1:
		c.MaxCardinality = r.IntN(5)
	}
	if r.IntN(2) == 0 {
		c.StopValues = []string{"7"}
	}
	return c
}

func TestAStoreDoesWhatItsModelDoes(t *testing.T) {
	seeds := 120
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			c := randomConfig(t, r)
			ids, modelIDs := numberedIDs(), numberedIDs()
			x := &twins{TB: t, newID: ids, store: New(c, ids), model: newModel(c, modelIDs), r: r}
			for range 400 {
				switch n := r.IntN(40); {
				case n < 18:
					x.assign()
				case n < 24:
					x.refresh()
				case n < 25:
					x.quiet = !x.quiet
				case n < 26:
					x.compare()
				case n < 27:
					x.cut()
				case n < 28:
					x.now += 30
				case n < 29:
					old := c
					c = randomConfig(t, r)
					c.Mode, c.By, c.Entities, c.MaxEntities, c.MaxCardinality = old.Mode, old.By, old.Entities, old.MaxEntities, old.MaxCardinality
					x.store.Configure(c)
					x.model.configure(c)
				default:
					x.tick()
					x.now++
				}
			}
			x.compare()
		})
	}
}

// What comes out does not depend on whether the store was saved and read back, wherever
// that happens.
func TestRestoredIsUninterrupted(t *testing.T) {
	for seed := range 8 {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			c := randomConfig(t, rand.New(rand.NewPCG(uint64(seed), 2)))
			c.MaxCardinality = 10_000 // occurrences are counted anew
			if seed%2 == 0 {
				c.Include = Results
			}
			const steps = 100
			run := func(cut int) (records []string) {
				r, ids := rand.New(rand.NewPCG(uint64(seed), 3)), numberedIDs()
				store, now := New(c, ids), int64(0)
				for step := range steps {
					if step == cut {
						store = reopened(t, store, c, ids)
					}
					if r.IntN(2) == 0 {
						text := fmt.Sprintf("%c %s A=%d B=%d C=%d", 'p'+r.IntN(3), modelLevels[r.IntN(6)], r.IntN(9), r.IntN(9), r.IntN(9))
						ref, o := store.Assign(hit(t, text), now)
						records = append(records, fmt.Sprint(store.ID(ref), o))
						continue
					}
					store.Tick(now, func(line []byte) bool { return step%20 < 7 && bytes.Contains(line, []byte(`"rule_id":"q"`)) }, func(r *Record) {
						records = append(records, string(r.AppendNative(nil)))
					})
					now += r.Int64N(3)
				}
				return records
			}
			want := run(-1)
			for cut := range steps {
				if got := run(cut); !slices.Equal(got, want) {
					i := 0
					for i < min(len(got), len(want))-1 && got[i] == want[i] {
						i++
					}
					t.Fatalf("cut at %d: the first difference is\n%s\nwant\n%s", cut, got[i], want[i])
				}
			}
		})
	}
}
