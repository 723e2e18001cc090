package incident

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/native"
	"github.com/sluicehq/sluice/graph/selector"
)

func selectors(tb testing.TB, texts ...string) []selector.Selector {
	tb.Helper()
	all := make([]selector.Selector, len(texts))
	for i, text := range texts {
		var err error
		if all[i], err = selector.Parse(text); err != nil {
			tb.Fatal(err)
		}
	}
	return all
}

// defaults are those of the file.
func defaults() Config {
	return Config{
		Mode: GroupBy, Wait: 30, Interval: 300, Resolve: 3600, Include: Refs,
		MaxOpen: 10_000, MaxEntities: 1000, MaxResults: 1000, MaxCardinality: 10_000,
	}
}

func grouped(tb testing.TB, by ...string) Config {
	tb.Helper()
	c := defaults()
	c.By = selectors(tb, by...)
	return c
}

func graphed(tb testing.TB, entities ...string) Config {
	tb.Helper()
	c := defaults()
	c.Mode, c.Entities = EntityGraph, selectors(tb, entities...)
	return c
}

// numberedIDs are I1, I2 and so on.
func numberedIDs() func() string {
	n := 0
	return func() string {
		n++
		return "I" + strconv.Itoa(n)
	}
}

// hit makes a result of "rule level Field=value ...", where a value is JSON or a bare word.
func hit(tb testing.TB, text string) *graph.Result {
	tb.Helper()
	words := strings.Fields(text)
	var fields []string
	for _, w := range words[2:] {
		name, value, _ := strings.Cut(w, "=")
		if !json.Valid([]byte(value)) {
			value = strconv.Quote(value)
		}
		fields = append(fields, fmt.Sprintf(`{"field":%q,"value":%s}`, name, value))
	}
	level := ""
	if words[1] != "-" {
		level = `"level":"` + words[1] + `",`
	}
	r, err := native.Parse(fmt.Appendf(nil, `{"rule_title":"Title of %s","rule_id":%q,%s"tags":[],"matched_selections":["sel"],"matched_fields":[%s]}`,
		words[0], words[0], level, strings.Join(fields, ",")))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func loud([]byte) bool { return false }

// script runs a store from second to second: first the results of the second, then its tick.
type script struct {
	*testing.T
	store *Store
	now   int64
	muted func([]byte) bool
	got   []string
	lines []string // native, of the records
}

func play(t *testing.T, c Config) *script {
	t.Helper()
	return &script{T: t, store: New(c, numberedIDs()), muted: loud}
}

func (s *script) emit(r *Record) {
	c := r.content
	s.got = append(s.got, fmt.Sprintf("%d %s %s n=%d last=%d %v", s.now, r.ID(), r.Trigger(), c.results, c.last, c.level))
	s.lines = append(s.lines, string(r.AppendNative(nil)))
}

// to runs the ticks before a second.
func (s *script) to(second int64) {
	for ; s.now < second; s.now++ {
		s.store.Tick(s.now, s.muted, s.emit)
	}
}

// at assigns a result, and returns the id of its incident, "-" for none.
func (s *script) at(second int64, text string) string {
	s.Helper()
	s.to(second)
	ref, _ := s.store.Assign(hit(s.T, text), s.now)
	if id := s.store.ID(ref); id != "" {
		return id
	}
	return "-"
}

// want compares the records since the last call.
func (s *script) want(records ...string) {
	s.Helper()
	if !slices.Equal(s.got, records) {
		s.Errorf("records\n%s\nwant\n%s", strings.Join(s.got, "\n"), strings.Join(records, "\n"))
	}
	s.got = nil
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// setField sets the text of a matched field.
func setField(r *graph.Result, i int, text string) {
	r.Detection.Fields[i].Value = append(append(append(r.Detection.Fields[i].Value[:0], '"'), text...), '"')
}
