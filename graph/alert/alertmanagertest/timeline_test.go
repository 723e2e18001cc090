package alertmanagertest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// timeline is what both programs go through: a setup, and what happens second by second.
//
//	0    A rule=ssh ip=.1        the alert or result A fires, with these labels; again without them
//	0    silence S ip=.1 ends=60 a silence is made
//	50   delete S                it is taken back
//	700  end                     nothing more happens; the clocks stand still
//
// Lines of one second happen in their order.
type timeline struct {
	setup
	steps []step
	words []string // each step as readers are shown it
}

// setup is a configuration of both.
type setup struct {
	by                     []string // labels of a group; nil: each alert is a group of its own, and there are no incidents
	wait, interval, repeat int      // seconds; repeat 0 is not set
	resolve                int      // seconds without news after which an alert, or an incident, is over
	groups                 int      // at most, 0 is any number
	fold                   bool     // results of equal labels are folded; Alertmanager always does
	inhibit                []inhibition
}

type inhibition struct{ source, target, equal string }

type step struct {
	at     int
	verb   string // fire, silence, delete, end
	name   string
	labels map[string]string // of fire
	expectation
}

// expectation is a silence that somebody asks for.
type expectation struct {
	matchers       []matcher
	starts, ends   int
	begins, limits bool // starts and ends are given
	id             string
}

type matcher struct{ label, op, value string }

var matcherText = regexp.MustCompile(`^(\w+)(=~|!~|!=|=)(.*)$`)

func matchers(t *testing.T, text string) (all []matcher) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		m := matcherText.FindStringSubmatch(word)
		if m == nil {
			t.Fatalf("%q is no matcher", word)
		}
		all = append(all, matcher{m[1], m[2], m[3]})
	}
	return all
}

// read reads the steps of a script.
func read(t *testing.T, s setup, script string) *timeline {
	t.Helper()
	l := &timeline{setup: s}
	known := make(map[string]map[string]string)
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		at, err := strconv.Atoi(words[0])
		if err != nil {
			t.Fatalf("%q begins with no second", line)
		}
		st := step{at: at, verb: words[1]}
		switch words[1] {
		case "end":
		case "delete":
			st.name = words[2]
		case "silence":
			st.name = words[2]
			st.expectation = readExpectation(t, words[3:])
		default:
			st.verb, st.name = "fire", words[1]
			if len(words) > 2 {
				known[st.name] = labelsOf(t, words[2:])
			}
			st.labels = known[st.name]
		}
		l.steps = append(l.steps, st)
		l.words = append(l.words, inWords(words[1:]))
	}
	if n := len(l.steps); n == 0 || l.steps[n-1].verb != "end" {
		t.Fatal("the script has no end")
	}
	return l
}

// inWords writes a step with its labels as code.
func inWords(words []string) string {
	text := words[0]
	rest := words[1:]
	if text == "silence" || text == "delete" {
		text += " " + rest[0]
		rest = rest[1:]
	}
	if len(rest) > 0 {
		text += " `" + strings.Join(rest, " ") + "`"
	}
	return text
}

func labelsOf(t *testing.T, words []string) map[string]string {
	t.Helper()
	set := make(map[string]string)
	for _, m := range matchers(t, strings.Join(words, " ")) {
		set[m.label] = m.value
	}
	return set
}

func readExpectation(t *testing.T, words []string) (s expectation) {
	t.Helper()
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		second, err := strconv.Atoi(value)
		switch {
		case name == "starts" && err == nil:
			s.starts, s.begins = second, true
		case name == "ends" && err == nil:
			s.ends, s.limits = second, true
		case name == "id":
			s.id = value
		default:
			s.matchers = append(s.matchers, matchers(t, w)...)
		}
	}
	return s
}

// outcome is what one of the programs did.
type outcome struct {
	told   []string // notifications, or records of incidents: when, of how many, and whether it is the end
	muted  []string // the names of what nobody ever heard of
	asked  []string // what became of silences that were asked for, and which ones are listed then
	spoken []string // results, notifications and records for readers, in their order
}

func (o *outcome) tell(at int, members int, end bool, text string) {
	if end {
		o.told = append(o.told, fmt.Sprintf("%d resolved", at))
	} else {
		o.told = append(o.told, fmt.Sprintf("%d open %d", at, members))
	}
	o.say(at, text)
}

func (o *outcome) say(at int, text string) {
	o.spoken = append(o.spoken, fmt.Sprintf("%d s: %s", at, text))
}

// ask notes the answer to somebody who wants a silence.
func (o *outcome) ask(at int, text string, answer string) {
	o.asked = append(o.asked, fmt.Sprintf("%d s: %s %s", at, text, answer))
}

// mute settles what nobody heard of.
func (o *outcome) mute(l *timeline, heard map[string]bool) {
	for _, st := range l.steps {
		if st.verb == "fire" && !heard[st.name] && !slices.Contains(o.muted, st.name) {
			o.muted = append(o.muted, st.name)
		}
	}
}

// list writes how many silences there are of each state.
func list(states map[string]int) string {
	var parts []string
	for _, state := range []string{"pending", "active", "expired"} {
		if n := states[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if len(parts) == 0 {
		return "; none is listed"
	}
	return "; listed: " + strings.Join(parts, ", ")
}
