package ratelog

import (
	"fmt"
	"maps"
	"testing"
	"time"
)

func TestAMessageIsLetThroughOnceInAWhile(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	l := Limit{Every: time.Minute}
	for _, tc := range []struct {
		name string
		key  string
		n    int
		at   time.Duration
		held int
		ok   bool
	}{
		{"the first one", "a", 1, 0, 0, true},
		{"another message", "b", 1, 0, 0, true},
		{"too early", "a", 2, time.Minute - 1, 0, false},
		{"too early once more", "a", 3, time.Minute - 1, 0, false},
		{"a minute later, with those held back", "a", 1, time.Minute, 5, true},
		{"nothing was held back since", "a", 1, 2 * time.Minute, 0, true},
	} {
		if held, ok := l.Allow(tc.key, tc.n, noon.Add(tc.at)); held != tc.held || ok != tc.ok {
			t.Errorf("%s: got %d, %t, want %d, %t", tc.name, held, ok, tc.held, tc.ok)
		}
	}
}

func TestTheRestIsToldOnce(t *testing.T) {
	var l Limit
	now := time.Now()
	for range 3 {
		l.Allow("", 1, now)
	}
	if got := l.Rest(""); got != 2 {
		t.Errorf("got %d held back, want 2", got)
	}
	if got := l.Rest(""); got != 0 {
		t.Errorf("asked again: got %d held back, want 0", got)
	}
	if _, ok := l.Allow("", 1, now); !ok {
		t.Error("the message after the rest is held back, want it let through")
	}
}

func TestDistinctMessagesAreForgottenBeforeThereAreTooMany(t *testing.T) {
	var l Limit
	for i := range 10 * known {
		l.Allow(fmt.Sprint(i), 1, time.Now())
	}
	if len(l.told) > known {
		t.Errorf("%d messages remembered, want at most %d", len(l.told), known)
	}
}

func TestRestAllReturnsWhatIsKeptBack(t *testing.T) {
	var l Limit
	now := time.Unix(0, 0)
	for _, key := range []string{"a", "b", "b", "c", "b", "c"} {
		l.Allow(key, 1, now)
	}
	if got, want := l.RestAll(), map[string]int{"b": 2, "c": 1}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := l.RestAll(); len(got) > 0 {
		t.Errorf("the second time got %v, want none", got)
	}
	if held, ok := l.Allow("b", 1, now); held != 0 || !ok {
		t.Errorf("the next one: %d, %t, want that it is let through", held, ok)
	}
}
