package dedup

import (
	"slices"
	"testing"
)

func TestACalendarListsANumberOnce(t *testing.T) {
	var c calendar
	want := func(until int64, want ...int32) {
		t.Helper()
		got := c.due(nil, until)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("until %d there are %v, want %v", until, got, want)
		}
	}
	if _, ok := c.earliest(); ok {
		t.Error("an empty calendar has a second")
	}
	want(100)
	for range 3 { // the second has no list in between
		c.put(4, 10)
		c.drop(4, 10)
	}
	for n := range int32(4) {
		c.put(n, 10)
	}
	c.put(5, 9)
	want(8)
	want(9, 5)
	want(10, 0, 1, 2, 3, 5)
	for _, n := range []int32{2, 0, 3} { // in the middle, at the end and in front
		c.drop(n, 10)
	}
	want(10, 1, 5)
	want(10, 1, 5)
	c.drop(5, 9)
	if second, ok := c.earliest(); second != 10 || !ok {
		t.Errorf("the earliest is %d, %v, want 10", second, ok)
	}
	c.drop(1, 10)
	if second, ok := c.earliest(); ok {
		t.Errorf("%d is left", second)
	}
	want(100)
}
