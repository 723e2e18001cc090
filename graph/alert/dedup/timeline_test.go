package dedup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/alert/incident"
)

// A step is what happens at a second before its tick.
type step struct {
	at   int64
	ip   string // of a result, empty for none
	mute bool   // the result is silenced
}

func TestTimelines(t *testing.T) {
	one, two := "10.0.0.1", "10.0.0.2"
	const fp1, fp2, ofRule = "adf6c336a92545c4", "adf6c636a9254add", "8f190c2d739ada70"
	for _, tc := range []struct {
		name        string
		fingerprint string
		config      Config
		muted       func(now int64) bool
		steps       []step
		end         int64
		want        []string
	}{
		{
			name: "repeats and resolutions", fingerprint: "match.SourceIp", config: Config{Repeat: 60, Resolve: 120, MaxActive: 10},
			steps: []step{{0, one, false}, {5, one, false}, {20, two, false}, {70, one, false}, {100, one, false}}, end: 400,
			want: []string{
				"0 passes", "5 folded", "20 passes",
				"60 repeat " + fp1 + " count 2, seen 0 to 5",
				"70 folded", "100 folded",
				"120 repeat " + fp1 + " count 4, seen 0 to 100",
				"140 resolved " + fp2 + " count 1, seen 20 to 20",
				"220 resolved " + fp1 + " count 4, seen 0 to 100",
			},
		},
		{
			name: "a full store lets results pass that open no alert", fingerprint: "match.SourceIp", config: Config{Resolve: 60, MaxActive: 1},
			steps: []step{{0, one, false}, {1, two, false}, {2, two, false}, {3, one, false}}, end: 200,
			want: []string{
				"0 passes", "1 passes, the store is full", "2 passes, the store is full", "3 folded",
				"63 resolved " + fp1 + " count 2, seen 0 to 3",
			},
		},
		{
			name: "a store for no alerts opens none", fingerprint: "match.SourceIp", config: Config{Resolve: 60},
			steps: []step{{0, one, false}, {1, one, false}}, end: 100,
			want: []string{"0 passes, the store is full", "1 passes, the store is full"},
		},
		{
			name: "without repeats an alert says nothing until it is over", fingerprint: "match.SourceIp", config: Config{Resolve: 30, MaxActive: 10},
			steps: []step{{0, one, false}, {10, one, false}, {45, one, false}}, end: 200,
			want: []string{
				"0 passes", "10 folded", "40 resolved " + fp1 + " count 2, seen 0 to 10",
				"45 passes", "75 resolved " + fp1 + " count 1, seen 45 to 45",
			},
		},
		{
			name: "the first result after a long quiet time is reported by the next tick", fingerprint: "match.SourceIp", config: Config{Repeat: 60, Resolve: 3600, MaxActive: 10},
			steps: []step{{0, one, false}, {600, one, false}}, end: 4300,
			want: []string{
				"0 passes", "600 folded", "600 repeat " + fp1 + " count 2, seen 0 to 600",
				"4200 resolved " + fp1 + " count 2, seen 0 to 600",
			},
		},
		{
			name: "an alert without new results does not repeat", fingerprint: "match.SourceIp", config: Config{Repeat: 10, Resolve: 100, MaxActive: 10},
			steps: []step{{0, one, false}, {5, one, false}}, end: 200,
			want: []string{
				"0 passes", "5 folded", "10 repeat " + fp1 + " count 2, seen 0 to 5",
				"105 resolved " + fp1 + " count 2, seen 0 to 5",
			},
		},
		{
			name: "an alert that resolves does not repeat", fingerprint: "match.SourceIp", config: Config{Repeat: 60, Resolve: 60, MaxActive: 10},
			steps: []step{{0, one, false}, {0, one, false}}, end: 100,
			want: []string{"0 passes", "0 folded", "60 resolved " + fp1 + " count 2, seen 0 to 0"},
		},
		{
			name: "an alert that resolves at once does so at the tick of its second", fingerprint: "match.SourceIp", config: Config{MaxActive: 10},
			steps: []step{{3, one, false}, {3, one, false}, {4, one, false}}, end: 10,
			want: []string{
				"3 passes", "3 folded", "3 resolved " + fp1 + " count 2, seen 3 to 3",
				"4 passes", "4 resolved " + fp1 + " count 1, seen 4 to 4",
			},
		},
		{
			name: "a repeat is held while a silence mutes it", fingerprint: "rule", config: Config{Repeat: 60, Resolve: 120, MaxActive: 10},
			muted: func(now int64) bool { return now >= 50 && now < 100 },
			steps: []step{{0, one, false}, {40, one, false}, {60, one, true}, {410, one, false}}, end: 420,
			want: []string{
				"0 passes", "40 folded", "60 silenced", "100 repeat " + ofRule + " count 3, seen 0 to 60",
				"180 resolved " + ofRule + " count 3, seen 0 to 60", "410 passes",
			},
		},
		{
			name: "a silence does not hold what resolves", fingerprint: "rule", config: Config{Repeat: 60, Resolve: 120, MaxActive: 10},
			muted: func(now int64) bool { return now >= 50 && now < 400 },
			steps: []step{{0, one, false}, {40, one, false}, {60, one, true}, {410, one, false}}, end: 420,
			want: []string{
				"0 passes", "40 folded", "60 silenced",
				"180 resolved " + ofRule + " count 3, seen 0 to 60", "410 passes",
			},
		},
		{
			name: "a silenced result opens no alert", fingerprint: "rule", config: Config{Repeat: 60, Resolve: 120, MaxActive: 10},
			steps: []step{{0, one, true}, {1, one, false}}, end: 10,
			want: []string{"0 silenced", "1 passes"},
		},
		{
			name: "a result each minute", fingerprint: "rule", config: Config{Resolve: 3600, MaxActive: 10},
			steps: everyMinute(one, 1200), end: 5000,
			want: append(append([]string{"0 passes"}, folds(1200)...), "4800 resolved "+ofRule+" count 21, seen 0 to 1200"),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.config.Fingerprint = selectors(t, tc.fingerprint)
			s := New(tc.config)
			var got []string
			steps := tc.steps
			for now := int64(0); now <= tc.end; now++ {
				for len(steps) > 0 && steps[0].at == now {
					what := s.handle(fromIP(t, steps[0].ip), now, steps[0].mute)
					got, steps = append(got, fmt.Sprint(now, " ", what)), steps[1:]
				}
				for _, line := range brief(t, s.tick(now, func([]byte) bool { return tc.muted != nil && tc.muted(now) })) {
					got = append(got, fmt.Sprint(now, " ", line))
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

func everyMinute(ip string, end int64) (steps []step) {
	for at := int64(0); at <= end; at += 60 {
		steps = append(steps, step{at, ip, false})
	}
	return steps
}

func folds(end int) (lines []string) {
	for at := 60; at <= end; at += 60 {
		lines = append(lines, fmt.Sprint(at, " folded"))
	}
	return lines
}

// Saved at 100 and restored later, an alert goes on where it was.
func TestAlertsOutliveARestart(t *testing.T) {
	config := Config{Fingerprint: selectors(t, "match.SourceIp"), Resolve: 3600, MaxActive: 10}
	s := New(config)
	s.pass(fromIP(t, "10.0.0.1"), 100, incident.Ref{})
	saved := s.save(t)

	at200 := restore(t, config, saved)
	if lines := at200.tick(200, never); len(lines) > 0 {
		t.Errorf("restarted at 200, the first tick says %v", lines)
	}
	if got := at200.pass(fromIP(t, "10.0.0.1"), 250, incident.Ref{}); got != "folded" {
		t.Errorf("a duplicate at 250 %s, want it folded", got)
	}
	want := []string{"resolved adf6c336a92545c4 count 1, seen 100 to 100"}
	at3700 := restore(t, config, saved)
	if got := brief(t, at3700.tick(3700, never)); !slices.Equal(got, want) || at3700.Len() != 0 {
		t.Errorf("restarted at 3700, the first tick says %v, want %v; %d alerts are left", got, want, at3700.Len())
	}
}
