package deadletters

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// unread is a dead letter about a line, as the daemon writes it.
func unread(raw string, at time.Time) string {
	return string(sink.AppendDeadLetter(nil, graph.DeadLetter{Original: []byte(raw), Error: "parse error", Stage: "parse"}, at))
}

// undelivered is one about results with these titles.
func undelivered(label string, at time.Time, titles ...string) string {
	for i, t := range titles {
		titles[i] = nativeLine(t)
	}
	return string(sink.AppendDeadLetter(nil, graph.DeadLetter{
		Original: []byte("[" + strings.Join(titles, ",") + "]"), Error: "sink delivery failure: I/O error: Disk full",
		Stage: sink.StageDelivery, Sink: label, Attempts: 4,
	}, at))
}

func nativeLine(title string) string { return fmt.Sprintf(`{"rule_title":%q,"level":"high"}`, title) }

// fileOf writes lines to a file.
func fileOf(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dead")
	appendTo(t, path, strings.Join(lines, "\n")+"\n")
	return path
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func contains(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v, want it to say %q", err, part)
	}
}
