package correlate

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// looking is an actor that counts the groups which questions look at.
type looking struct {
	*shell
	groups *int
	most   *int // for one question other than an export
}

func (l *looking) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case Export:
		*l.groups += l.step.Engine.Groups()
	case Find:
		*l.groups += m.N
		*l.most = max(*l.most, m.N)
	}
	l.shell.Receive(c)
}

// lister is a bench with groups, and the listing of them.
type lister struct {
	*bench
	groups, most int
}

func newLister(t *testing.T, users int) *lister {
	t.Helper()
	l := &lister{bench: buildBench(t, login+counting("one", "[user]", 9)+counting("two", "[host, user]", 9))}
	l.system = actorstest.System(t, actors.Options{MaxRestarts: 10, RestartWindow: time.Minute, Log: l.log.Logger()})
	_, err := l.system.Spawn(l.stage.Cell(), func(h actors.RestartState) actor.Actor {
		return &looking{l.stage.Produce(h).(*shell), &l.groups, &l.most}
	})
	if err != nil {
		t.Fatal(err)
	}
	l.client = l.stage.Client()
	l.feed(users)
	return l
}

func (l *lister) feed(users int) {
	for from := 0; from < users; from += 1000 {
		var lines []string
		for i := from; i < min(users, from+1000); i++ {
			lines = append(lines, user(fmt.Sprintf("u%d", i*7919%users), 100))
		}
		l.put(l.batch(lines...))
	}
}

// page returns the keys of a page and the filter of the next one.
func (l *lister) page(f correlation.Filter) (keys []string, next correlation.Filter, err error) {
	_, groups, _, err := l.client.State(l.t.Context(), f)
	if err != nil {
		return nil, f, err
	}
	for g := range groups {
		keys = append(keys, fmt.Sprintf("%d %s", g.CorrelationIndex, g.GroupKeyDisplay))
		place := g.Place()
		f.After = &place
	}
	return keys, f, nil
}

// all lists everything in pages. between is called behind each.
func (l *lister) all(f correlation.Filter, between func(page int)) (keys []string) {
	l.t.Helper()
	for n := 0; ; n++ {
		page, next, err := l.page(f)
		if err != nil {
			l.t.Fatal(err)
		}
		keys = append(keys, page...)
		if len(page) < f.Limit {
			return keys
		}
		f = next
		between(n)
	}
}

// All pages together looked at each group once for each page.
func TestAllPagesTogetherLookAtEachGroupAFewTimes(t *testing.T) {
	for _, tc := range []struct {
		name         string
		users, limit int
		filter       correlation.Filter
		want         int // groups listed
	}{
		{"pages of one", 300, 1, correlation.Filter{}, 600},
		{"small pages", 3000, 100, correlation.Filter{}, 6000},
		{"pages that are asked for in pieces", 6000, 1000, correlation.Filter{}, 12_000},
		{"pages of one correlation", 3000, 100, correlation.Filter{ID: "two"}, 3000},
		{"pages of a part of the groups", 3000, 10, correlation.Filter{Group: "user=u11"}, 2 * 111},
		{"a single page", 500, 10_000, correlation.Filter{}, 1000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLister(t, tc.users)
				_, whole, count, err := l.client.State(t.Context(), tc.filter)
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				for g := range whole {
					want = append(want, fmt.Sprintf("%d %s", g.CorrelationIndex, g.GroupKeyDisplay))
				}
				l.groups = 0
				f := tc.filter
				f.Limit = tc.limit
				got := l.all(f, func(int) {})
				if fmt.Sprint(got) != fmt.Sprint(want) || len(got) != tc.want || count != tc.want {
					t.Errorf("%d groups listed of %d, want %d in their order", len(got), count, tc.want)
				}
				if most := 3*2*tc.users + tc.limit; l.groups > most {
					t.Errorf("%d groups were looked at in pages of %d, want at most %d", l.groups, tc.limit, most)
				}
				if l.most > groupsAtOnce {
					t.Errorf("one question looked at %d groups, want %d at most", l.most, groupsAtOnce)
				}
			})
		})
	}
}

// However many listings are under way, few have an order, and all get everything.
func TestListingsAtTheSameTimeAreComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const users, limit, listings = 500, 100, 3 * maxOrders
		l := newLister(t, users)
		want := fmt.Sprint(l.all(correlation.Filter{Limit: 10_000}, func(int) {}))
		filters, keys := make([]correlation.Filter, listings), make([][]string, listings)
		for i := range filters {
			filters[i].Limit = limit
		}
		for range 2*users/limit + 1 {
			held := make(map[*correlation.Order]bool)
			for i := range filters {
				page, next, err := l.page(filters[i])
				if err != nil {
					t.Fatal(err)
				}
				keys[i], filters[i] = append(keys[i], page...), next
			}
			for i := range filters {
				if o, _ := filters[i].After.Order(); o != nil && !o.Dropped() {
					held[o] = true
				}
			}
			if len(held) > maxOrders {
				t.Errorf("%d orders are held, want %d at most", len(held), maxOrders)
			}
		}
		for i := range keys {
			if fmt.Sprint(keys[i]) != want {
				t.Errorf("listing %d has %d groups, want all in their order", i, len(keys[i]))
			}
		}
	})
}

func TestAListingGoesOnBehindAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const users, limit = 500, 90
		l := newLister(t, users)
		want := l.all(correlation.Filter{Limit: 10_000}, func(int) {})
		got := l.all(correlation.Filter{Limit: limit}, func(page int) {
			if page == 3 {
				l.set = compiled(t, 2, login+counting("one", "[user]", 5)+counting("two", "[host, user]", 5))
				l.put(l.batch())
			}
		})
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d groups listed, want %d in their order", len(got), len(want))
		}
	})
}
