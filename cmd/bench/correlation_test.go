package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

func TestEveryTypeAndWindowIsMeasured(t *testing.T) {
	var out strings.Builder
	r := report{out: &out}
	if err := r.engine(options{groups: []int{1, 10}, each: time.Nanosecond}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 2+8*3+1 {
		t.Errorf("%d lines, want a row for each type and window:\n%s", n, out.String())
	}
}

func TestStreamsSpreadOverGroups(t *testing.T) {
	s, err := newStream(shape{"value_count", "sliding", 7, 3, 10})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.steps(100); err != nil {
		t.Fatal(err)
	}
	if n := s.engine.Groups(); n != 7 {
		t.Errorf("%d groups, want 7", n)
	}
}

func TestTheLaneIsJudgedInEveryWay(t *testing.T) {
	data := sigmatest.DataDir(t)
	lines, err := sigmatest.ReadLane(data, "correlation")
	if err != nil {
		t.Fatal(err)
	}
	text := append([]byte(strings.TrimSpace(string(lines[0]))), '\n')
	rules := filepath.Join(data, "lanes", "correlation-rules.yml")
	alone := filepath.Join(t.TempDir(), "alone.yml")
	if err := writeDetections(alone, rules); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadFile(alone)
	if err != nil || strings.Count(string(left), "detection:") != 2 || strings.Contains(string(left), "correlation:") {
		t.Errorf("error %v, want two detection rules and no correlation:\n%s", err, left)
	}
	ways := []*way{{name: "alone", args: []string{"-r", alone}}, {name: "all", args: []string{"-r", rules}}, {name: "again", args: []string{"-r", rules}}}
	if err := inTurn(ways, text, 0); err != nil {
		t.Fatal(err)
	}
	for _, w := range ways {
		if len(w.took) != minRounds || len(w.used) != minRounds {
			t.Errorf("%s: %d and %d rounds counted, want %d", w.name, len(w.took), len(w.used), minRounds)
		}
	}
	var out strings.Builder
	r := report{out: &out}
	r.laneRows(ways, 1, 2, false)
	if got := out.String(); strings.Count(got, "PASS")+strings.Count(got, "FAIL") != 1 {
		t.Errorf("want one bar in\n%s", got)
	}
}
