package correlation_test

import (
	"fmt"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

// ordered lists what is behind the filter's After in pages of an order. between is
// called behind each.
func ordered(t *testing.T, e *correlation.Engine, filter correlation.Filter, size int, between func(page int)) (list []correlation.GroupEntry) {
	t.Helper()
	o := e.Export().Order(filter)
	for at, page := 0, 0; ; page++ {
		p := e.Page(o, at, size)
		if p == nil {
			t.Fatal("the order does not hold any more")
		}
		for g := range p.Each(filter) {
			list = append(list, g)
			place := g.Place()
			if in, next := place.Order(); in != o || next <= at || next > p.Next {
				t.Errorf("group %s is followed by place %d of %p, want one from %d to %d of %p", g.GroupKeyDisplay, next, in, at+1, p.Next, o)
			}
		}
		if p.Last {
			return list
		}
		at = p.Next
		between(page)
	}
}

func displays(list []correlation.GroupEntry) (out []string) {
	for _, g := range list {
		out = append(out, fmt.Sprintf("%d %s", g.CorrelationIndex, g.GroupKeyDisplay))
	}
	return out
}

func TestPagesOfAnOrderMakeUpTheWhole(t *testing.T) {
	text := named("one", count3+"\ngroup-by: [user, host]") + "---\n" + named("none", count3+"\nrules: [d-exploit]") + "---\n" + named("two", count3) + "---\n" +
		named("three", "type: value_count\ncondition: {field: src, gte: 2}\ngroup-by: [user, host]")
	d := newDriver(t, compile(t, text, program.Options{}), 0)
	users := []string{"a", "ab", "a, host=b", "", "<none>", "<", "b", "ä", "B", "a,", "a, ", "z"}
	for i := range 1500 {
		host := ""
		if i%3 > 0 {
			host = fmt.Sprintf(`,"host":"h%d"`, i*7919%97)
		}
		d.feed(with(100+int64(i%40), fmt.Sprintf(`"user":%q,"src":"s%d"%s`, users[i%len(users)]+itoa(i/300), i, host)))
	}
	whole, count := d.engine.Export().State(correlation.Filter{})
	if count < 500 {
		t.Fatalf("%d groups, want many", count)
	}
	middle := whole[count/2].Place()
	for _, filter := range []correlation.Filter{
		{}, {NoWindow: true}, {ID: "two"}, {ID: "none"}, {ID: "nobody"}, {Group: "h5"}, {After: &middle}, {After: &middle, Group: "a"}, {After: &middle, ID: "three"}, {After: &middle, ID: "one"},
	} {
		for _, size := range []int{1, 7, 256, 10_000} {
			want, _ := d.engine.Export().State(filter)
			got := ordered(t, d.engine, filter, size, func(int) {})
			if mustJSON(t, displays(got)) != mustJSON(t, displays(want)) {
				t.Errorf("filter %+v in pages of %d: %d groups, want %d in their order", filter, size, len(got), len(want))
			}
			for i := range got {
				if i < len(want) && mustJSON(t, got[i]) != mustJSON(t, want[i]) {
					t.Fatalf("filter %+v: group %d is %s, want %s", filter, i, mustJSON(t, got[i]), mustJSON(t, want[i]))
				}
			}
		}
	}
}

// Groups come, change and go between two pages, and slots are used again.
func TestWhoeverStaysIsListedOnceAndInOrder(t *testing.T) {
	const groups = 1000
	text := named("one", count3+"\ntimespan: 1d") + "---\n" + named("two", count3+"\ntimespan: 1d")
	d := newDriver(t, compile(t, text, program.Options{}), 2*groups)
	for i := range groups {
		d.feed(with(100+int64(i), fmt.Sprintf(`"user":"u%d"`, i*7919%groups)))
	}
	first, _ := d.engine.Export().State(correlation.Filter{NoWindow: true})
	before := make(map[string]int)
	for i, g := range displays(first) {
		before[g] = i + 1
	}
	came := 0
	got := displays(ordered(t, d.engine, correlation.Filter{NoWindow: true}, 100, func(page int) {
		for range 60 { // evicts, and takes the slots that get free
			d.feed(with(2000+int64(came), fmt.Sprintf(`"user":"%c%d"`, "an~"[came%3], came)))
			came++
		}
		d.feed(with(3000, fmt.Sprintf(`"user":"u%d"`, (groups-1-page)*7919%groups))) // one that is not stale
	}))
	if d.outcome.Evicted == 0 {
		t.Fatal("no group was evicted")
	}
	after, _ := d.engine.Export().State(correlation.Filter{NoWindow: true})
	listed := make(map[string]bool)
	for i, g := range got {
		if before[g] == 0 || listed[g] || i > 0 && before[g] <= before[got[i-1]] {
			t.Errorf("group %s is listed again, not in order, or was not there", g)
		}
		listed[g] = true
	}
	stayed := 0
	for _, g := range displays(after) {
		if before[g] > 0 {
			if stayed++; !listed[g] {
				t.Errorf("group %s stayed and is not listed", g)
			}
		}
	}
	if stayed == 0 || stayed == 2*groups {
		t.Errorf("%d groups stayed, want some", stayed)
	}
}

// A page is what was there when it was made, like a view.
func TestAPageDoesNotChange(t *testing.T) {
	d := newDriver(t, compile(t, body(count3), program.Options{}), 0)
	d.run([]input{with(100, `"user":"a"`), with(100, `"user":"b"`), with(100, `"user":"c"`)})
	o := d.engine.Export().Order(correlation.Filter{})
	d.run([]input{with(101, `"user":"a"`), with(101, `"user":"b"`)})
	p := d.engine.Page(o, 0, 2)
	read := func() (out string) {
		for g := range p.Each(correlation.Filter{}) {
			out += mustJSON(t, g)
		}
		return out
	}
	want := read()
	d.run([]input{with(102, `"user":"a"`), with(103, `"user":"b"`), with(200, `"user":"a"`)})
	if got := read(); got != want || p.Len() != 2 {
		t.Errorf("the page became %s, want %s", got, want)
	}
	if now, _ := d.engine.Export().State(correlation.Filter{}); now[1].Entries != 3 || now[2].Entries != 1 {
		t.Errorf("the groups have %s, want what they were fed", mustJSON(t, now))
	}
}

func TestAnOrderHoldsAsLongAsGroupsKeepTheirSlots(t *testing.T) {
	text := named("one", count3) + "---\n" + named("two", count3)
	p := compile(t, text, program.Options{})
	for _, tc := range []struct {
		name  string
		then  func(d *driver, o *correlation.Order)
		holds bool
	}{
		{"nothing happens", func(*driver, *correlation.Order) {}, true},
		{"a group comes", func(d *driver, _ *correlation.Order) { d.feed(with(101, `"user":"z"`)) }, true},
		{"it is dropped", func(_ *driver, o *correlation.Order) { o.Drop() }, false},
		{"the program is swapped", func(d *driver, _ *correlation.Order) {
			d.engine.Swap(compile(t, named("two", count3), program.Options{}), d.now)
		}, false},
		{"the same program is swapped in", func(d *driver, _ *correlation.Order) { d.engine.Swap(p, d.now) }, false},
		{"another engine goes on", func(d *driver, _ *correlation.Order) { d.engine = correlation.New(p, correlation.Limits{}) }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDriver(t, p, 0)
			d.run(at(100))
			o := d.engine.Export().Order(correlation.Filter{})
			tc.then(d, o)
			if got := d.engine.Page(o, 0, 9); (got != nil) != tc.holds {
				t.Errorf("got page %v, want one: %t", got, tc.holds)
			}
		})
	}
}
