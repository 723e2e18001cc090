package reload

import (
	"strings"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/internal/clip"
)

// Origin is where a trigger came from.
type Origin string

// The origins of triggers.
const (
	API    Origin = "api"
	Signal Origin = "signal"
	File   Origin = "file"
)

// Outcome tells how a reload ended.
type Outcome struct {
	OK      bool      `json:"ok"` // no component failed
	At      time.Time `json:"at"` // when it ended
	Trigger Origin    `json:"trigger"`
	Error   string    `json:"error,omitempty"` // names the components that failed
}

// status are the members of the daemon's status: whether a reload was asked for that
// has not ended, and how the last one ended, once there was one. Whoever sees that
// nothing is pending sees the outcome of the last trigger.
func (r *Reloader) status() []actors.Member {
	r.mu.Lock()
	defer r.mu.Unlock()
	members := []actors.Member{{Name: "reload_pending", Value: len(r.pending)+len(r.taken) > 0}}
	if r.history.outcome != nil {
		members = append(members, actors.Member{Name: "last_reload", Value: *r.history.outcome})
	}
	return members
}

// failure is why a component keeps its previous version.
type failure struct {
	component string
	err       error
}

func (f failure) text() string { return f.component + ": " + f.err.Error() }

// failures are those of a pass.
type failures []failure

// text has every problem of every component.
func (all failures) text() string {
	lines := make([]string, len(all))
	for i, f := range all {
		lines[i] = f.text()
	}
	return strings.Join(lines, "\n")
}

// maxSummary bounds a summary, in bytes.
const maxSummary = 1024

// summary names every component with its first problem, on one line. Problems that
// are too long for all of them to be named are cut.
func (all failures) summary() string {
	const between = "; "
	parts, length := make([]string, len(all)), -len(between)
	for i, f := range all {
		parts[i] = firstProblem(f.text())
		length += len(parts[i]) + len(between)
	}
	if length > maxSummary {
		for i := range parts {
			parts[i] = clip.Text(parts[i], maxSummary/len(parts)-len(between))
		}
	}
	return strings.Join(parts, between)
}

// firstProblem is the first line of a text, together with the lines that it
// announces: those behind a colon at its end.
func firstProblem(text string) string {
	var words []string
	for line := range strings.SplitSeq(strings.ToValidUTF8(text, "?"), "\n") {
		line = strings.TrimSpace(line)
		words = append(words, line)
		if !strings.HasSuffix(line, ":") {
			break
		}
	}
	return strings.Join(words, " ")
}
