package correlation

import (
	"fmt"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/load"
)

const dayLong = `
title: login
id: d
detection: {s: {kind: login}, condition: s}
---
title: c
correlation: {type: event_count, rules: [d], group-by: [user], timespan: 1d, condition: {gte: 2}}
`

// The timers of groups that are gone used to stay until they were due.
func TestTimersOfAFloodDoNotPileUp(t *testing.T) {
	c := load.FromBytes("r.yml", []byte(dayLong), load.Options{})
	p, err := program.Compile(c.Correlations, c.Rules, program.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name     string
		limit    int
		rollback bool
	}{
		{"evicted groups", 100, false},
		{"groups of events that were undone", 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := New(p, Limits{Groups: tc.limit})
			x, doc := match.NewExtractor(p.Spec()), match.NewDocument(p.Spec())
			for i := range 20_000 {
				doc.Set(fmt.Appendf(nil, `{"kind":"login","user":%d}`, i))
				e.Begin()
				if _, _, err := e.Process(x.Append(nil, []int{0}, int64(i), doc), int64(i), int64(i), nil); err != nil {
					t.Fatal(err)
				}
				if tc.rollback {
					e.Rollback()
				}
			}
			e.Advance(20_000)
			if got := e.timers.Len(); got > 2000 {
				t.Errorf("got %d timers for %d groups", got, e.Groups())
			}
			if tc.rollback && e.Groups() != 0 {
				t.Errorf("got %d groups, want none", e.Groups())
			}
		})
	}
}

func TestTimersInPiecesDoWhatTimersAtOnceDo(t *testing.T) {
	c := load.FromBytes("r.yml", []byte(dayLong), load.Options{})
	p, err := program.Compile(c.Correlations, c.Rules, program.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const day = 24 * 60 * 60
	whole, pieces := New(p, Limits{}), New(p, Limits{})
	for _, e := range []*Engine{whole, pieces} {
		x, doc := match.NewExtractor(p.Spec()), match.NewDocument(p.Spec())
		for i := range 500 {
			doc.Set(fmt.Appendf(nil, `{"kind":"login","user":%d}`, i))
			at := int64(1_700_000_000 + i/100)
			if _, _, err := e.Process(x.Append(nil, []int{0}, at, doc), at, at, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, now := range []int64{1_700_000_000 + day, 1_700_000_002 + day, 1_700_000_010 + 3*day} {
		want := whole.Advance(now)
		var got Outcome
		for all := false; !all; {
			var o Outcome
			o, all = pieces.AdvanceSome(now, 7)
			if o.Expired > 7 {
				t.Fatalf("%d groups removed at once, limit 7", o.Expired)
			}
			got.Expired += o.Expired
		}
		if got != want || pieces.Groups() != whole.Groups() {
			t.Errorf("at %d: got %+v and %d groups, want %+v and %d", now, got, pieces.Groups(), want, whole.Groups())
		}
	}
	if whole.Groups() != 0 {
		t.Errorf("got %d groups in the end, want none", whole.Groups())
	}
}
