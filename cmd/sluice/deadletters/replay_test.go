package deadletters

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/graph"
)

// recorder is a transport that notes what it gets, and fails as it is told.
type recorder struct {
	bodies []string
	ids    []string
	fail   func(body string) error
	calls  int
}

func (r *recorder) Write(_ context.Context, messages []graph.Message) (int, error) {
	r.calls++
	for i, m := range messages {
		if r.fail != nil {
			if err := r.fail(string(m.Body)); err != nil {
				return i, err
			}
		}
		r.bodies = append(r.bodies, string(m.Body))
		r.ids = append(r.ids, fmt.Sprintf("%s-%d %s", m.ID, m.Index, m.Kind))
	}
	return len(messages), nil
}
func (r *recorder) Abandon()     {}
func (r *recorder) Reopen()      {}
func (r *recorder) Close() error { return nil }

type permanent struct{ error }

func (permanent) Permanent() bool { return true }

// replay is one of a file, with targets for both kinds.
type replay struct {
	Replay
	daemon   *daemon
	recorder *recorder
	told     []string
}

func newReplay(path string) *replay {
	r := &replay{daemon: &daemon{}, recorder: &recorder{}}
	r.Replay = Replay{
		File: path, State: path + ".replayed", To: "rec://", Input: r.daemon.input(),
		Target: &sinkTarget{
			spec: sink.Spec{Text: "rec://", Kind: sink.KindFile}, transport: r.recorder,
			retry: sink.Retry{Max: 1, Base: time.Millisecond, Cap: time.Millisecond}, retried: func(int, error) {},
		},
		RefusedBefore: func(number int, why string) {
			r.told = append(r.told, fmt.Sprintf("%d refused before: %s", number, why))
		},
		Refused: func(rec *Record, err error) { r.told = append(r.told, fmt.Sprintf("%d refused: %v", rec.Number, err)) },
		Damaged: func(d *Damage) { r.told = append(r.told, fmt.Sprintf("%d damaged", d.Line)) },
	}
	return r
}

func (r *replay) run(t *testing.T) (Counts, error) {
	t.Helper()
	return r.Run(t.Context(), t.Context())
}

// want runs it and compares what was sent: lines, then results, then the error.
func (r *replay) want(t *testing.T, want string) Counts {
	t.Helper()
	counts, err := r.run(t)
	lines := strings.Fields(strings.ReplaceAll(strings.Join(r.daemon.bodies, ""), "\n", " "))
	got := strings.Join(lines, " ") + "|"
	for i, b := range r.recorder.bodies {
		if i > 0 {
			got += " "
		}
		_, title, _ := strings.Cut(b, `"rule_title":"`)
		title, _, _ = strings.Cut(title, `"`)
		got += title
	}
	if err != nil {
		got += "|" + err.Error()
	}
	same(t, "sent", got, want)
	return counts
}

func letterFile(t *testing.T) string {
	t.Helper()
	return fileOf(t,
		unread("a", noon), undelivered("file", noon.Add(time.Minute), "A", "B"), "damaged",
		unread("b", noon.Add(time.Hour)), undelivered("stdout", noon.Add(2*time.Hour), "C"))
}

func TestAReplaySendsEachKindToItsTarget(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(r *replay)
		want   string
		counts Counts
	}{
		{"both targets", func(*replay) {}, "a b|A B C", Counts{Lines: 2, Deliveries: 2, Results: 3, Damaged: 1}},
		{"without a daemon lines are left out", func(r *replay) { r.Input = nil }, "|A B C", Counts{Deliveries: 2, Results: 3, Damaged: 1, NoInput: 2}},
		{"without a sink results are left out", func(r *replay) { r.Target, r.To = nil, "" }, "a b|", Counts{Lines: 2, Damaged: 1, NoTarget: 2}},
		{"by sink", func(r *replay) { r.Filter.Sinks = []string{"file"} }, "|A B", Counts{Deliveries: 1, Results: 2, Damaged: 1, Filtered: 3}},
		{"by stage", func(r *replay) { r.Filter.Stages = []string{"parse"} }, "a b|", Counts{Lines: 2, Damaged: 1, Filtered: 2}},
		{"by error", func(r *replay) { r.Filter.Error = "parse" }, "a b|", Counts{Lines: 2, Damaged: 1, Filtered: 2}},
		{"by time", func(r *replay) { r.Filter.Since, r.Filter.Until = noon.Add(time.Minute), noon.Add(2*time.Hour) }, "b|A B", Counts{Lines: 1, Deliveries: 1, Results: 2, Damaged: 1, Filtered: 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newReplay(letterFile(t))
			tc.change(r)
			same(t, "counts", r.want(t, tc.want), tc.counts)
			same(t, "told", strings.Join(r.told, ", "), "3 damaged")
			again := newReplay(r.File)
			again.Filter, again.Input, again.To = r.Filter, r.Input, r.To
			before := len(r.daemon.bodies)
			same(t, "the second time", again.want(t, "|"), Counts{Before: 5})
			same(t, "requests of the second time", len(r.daemon.bodies), before)
		})
	}
}

func TestWhatOneTargetLeftOutWaitsForTheOther(t *testing.T) {
	path := letterFile(t)
	r := newReplay(path)
	r.Target, r.To = nil, ""
	r.want(t, "a b|")
	appendTo(t, path, unread("c", noon)+"\n")
	newReplay(path).want(t, "c|A B C")
	newReplay(path).want(t, "|")
}

func TestAReplayGoesOnWithWhatWasAppended(t *testing.T) {
	path := fileOf(t, unread("a", noon))
	newReplay(path).want(t, "a|")
	half := unread("b", noon)
	appendTo(t, path, half[:30])
	r := newReplay(path)
	same(t, "an unfinished line", r.want(t, "|").CutOff, true)
	appendTo(t, path, half[30:]) // still without its end
	newReplay(path).want(t, "b|")
	appendTo(t, path, "\n"+unread("c", noon)+"\n")
	newReplay(path).want(t, "c|")
}

func TestAReplayKnowsItsFileAndItsSelection(t *testing.T) {
	path := letterFile(t)
	newReplay(path).want(t, "a b|A B C")
	other := newReplay(path)
	other.Selection = "--sink file"
	other.want(t, "||"+path+".replayed is about a replay of lines without a filter, and this one is with --sink file (name another file with --state, or begin anew with --restart)")
	target := newReplay(path)
	target.To = "elsewhere"
	target.want(t, "||"+path+".replayed is about a replay of results with --to rec://, and this one is with --to elsewhere (name another file with --state, or begin anew with --restart)")
	anew := newReplay(path)
	anew.Restart = true
	anew.want(t, "a b|A B C")

	rotated := strings.Join([]string{unread("x", noon), unread("y", noon)}, "\n") + "\n"
	for name, text := range map[string]string{"shorter": rotated, "longer": strings.Repeat(rotated, 20), "empty": ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := newReplay(path).run(t)
		contains(t, err, path+" is another file than the one that was replayed up to line 5")
		t.Log(name)
	}
	for _, text := range []string{"x", "{}", `{"progress":{"lines":null}}`, `{"progress":{"lines":{"end":-1}}}`} {
		if err := os.WriteFile(path+".replayed", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := newReplay(path).run(t)
		contains(t, err, "with --restart)")
	}
}

func TestASpanBeginsWhenTheReplayBegan(t *testing.T) {
	path := fileOf(t, unread("a", noon), unread("b", noon.Add(time.Minute)))
	first := newReplay(path)
	first.Rate = 0.001
	first.Selection, first.Filter.Since = "--since 1h", noon
	stop, interrupt := context.WithCancel(t.Context())
	first.daemon.asked = interrupt // what is under way ends, and the pause behind it does not begin
	if counts, err := first.Run(stop, t.Context()); err != nil || counts.Lines != 1 {
		t.Fatalf("%+v and %v", counts, err)
	}
	later := newReplay(path)
	later.Selection, later.Filter.Since = "--since 1h", noon.Add(2*time.Minute)
	later.want(t, "b|")
}

// However a replay ends, the next one sends what is missing and repeats at most what
// was under way.
func TestAnInterruptedReplayRepeatsAtMostWhatWasUnderWay(t *testing.T) {
	var lines []string
	for i := range 2000 {
		lines = append(lines, undelivered("file", noon, fmt.Sprintf("R%04d", i)))
	}
	path := fileOf(t, lines...)
	sent := make(map[string]int)
	var ids []string
	rounds := 0
	for ; ; rounds++ {
		r := newReplay(path)
		n := 0
		r.recorder.fail = func(string) error {
			if n++; n > 700 {
				return errors.New("away")
			}
			return nil
		}
		_, err := r.run(t)
		for _, b := range r.recorder.bodies {
			sent[b]++
		}
		ids = append(ids, r.recorder.ids...)
		if err == nil {
			break
		}
		contains(t, err, "sink 'rec://': away")
	}
	same(t, "rounds that failed", rounds, 2)
	repeated := len(ids) - len(sent)
	slices.Sort(ids)
	same(t, "results", len(sent), 2000)
	same(t, "messages, as a destination that knows ids sees them", len(slices.Compact(ids)), 2000)
	if repeated > 0 { // the transport confirms what it took, so nothing is repeated here
		t.Errorf("%d results were repeated", repeated)
	}
}

func TestResultsThatNobodyWillTakeAreToldAndTheRestGoesOn(t *testing.T) {
	notResults := func(original string) string {
		return string(sink.AppendDeadLetter(nil, graph.DeadLetter{Original: []byte(original), Error: "e", Stage: sink.StageDelivery, Sink: "file", Attempts: 1}, noon))
	}
	r := newReplay(fileOf(t,
		undelivered("file", noon, "A", "bad", "B"), notResults("no JSON"), notResults("[1]"), notResults("7"), notResults("[]"),
		notResults("{\n \"rule_title\":\"I\",\"incident_id\":\"1\"}"), notResults(`[{"rule_title":"K","correlation_type":"event_count"}]`), unread("two\nlines", noon), unread(" \t", noon), unread("{\"x\":\n1}", noon)))
	r.recorder.fail = func(body string) error {
		if strings.Contains(body, "bad") {
			return permanent{errors.New("too large")}
		}
		return nil
	}
	counts := r.want(t, `{"x":1}|A B I K`)
	same(t, "counts", counts, Counts{Lines: 1, Deliveries: 3, Results: 2, Refused: 6})
	same(t, "told", strings.Join(r.told, ", "), "2 refused: original_event holds no results: it is not JSON, "+
		"3 refused: original_event holds no results: value 1 is no object, 4 refused: original_event holds no results: it is neither a list nor an object, "+
		"8 refused: original_event holds a line break, and would come in as several lines, "+
		"9 refused: original_event is blank, and would come in as no line, 1 refused: too large")
	var kinds []string
	for _, id := range r.recorder.ids {
		_, kind, _ := strings.Cut(id, " ")
		kinds = append(kinds, kind)
	}
	same(t, "kinds", strings.Join(kinds, " "), "detection detection incident correlation")

	again := newReplay(r.File)
	same(t, "counts of the second time", again.want(t, "|"), Counts{Before: 10, RefusedBefore: 6})
	same(t, "told the second time", strings.Join(again.told, ", "), "8 refused before: original_event holds a line break, and would come in as several lines, "+
		"9 refused before: original_event is blank, and would come in as no line, 1 refused before: too large, "+
		"2 refused before: original_event holds no results: it is not JSON, 3 refused before: original_event holds no results: value 1 is no object, "+
		"4 refused before: original_event holds no results: it is neither a list nor an object")
	anew := newReplay(r.File)
	anew.Restart = true
	same(t, "counts from the beginning", anew.want(t, `{"x":1}|A bad B I K`), Counts{Lines: 1, Deliveries: 4, Results: 5, Refused: 5})
}

func TestTheErrorOfADeliveryHidesSecrets(t *testing.T) {
	r := newReplay(fileOf(t, undelivered("file", noon, "away")))
	r.Target.(*sinkTarget).spec.Text = "rec://host?token=hunter2"
	r.recorder.fail = func(string) error { return errors.New("away") }
	_, err := r.run(t)
	contains(t, err, "sink 'rec://host?token=xxxxx': away")
}

// What is remembered of refused records is bounded, and an interrupted replay remembers
// only those that it does not look at again.
func TestRefusedRecordsAreRememberedToABound(t *testing.T) {
	var lines []string
	for range 1200 {
		lines = append(lines, unread(" ", noon))
	}
	lines = append(lines, undelivered("file", noon, "away"), unread(" ", noon))
	path := fileOf(t, lines...)
	r := newReplay(path)
	r.recorder.fail = func(string) error { return errors.New("away") }
	_, err := r.run(t)
	contains(t, err, "sink 'rec://': away")
	again := newReplay(path)
	same(t, "counts", again.want(t, "|away"), Counts{Deliveries: 1, Results: 1, Before: 1000, RefusedBefore: 1201, Refused: 0})
	same(t, "told", len(again.told), 100)
	text, err := os.ReadFile(path + ".replayed")
	if err != nil || len(text) > 50<<10 {
		t.Errorf("the progress has %d bytes: %v", len(text), err)
	}
}

func TestTheRateIsKept(t *testing.T) {
	for _, tc := range []struct {
		rate float64
		took time.Duration // until the last request
	}{{0.5, 18 * time.Second}, {10, 800 * time.Millisecond}, {1000, 0}} {
		var lines []string
		for i := range 10 {
			lines = append(lines, unread(fmt.Sprint(i), noon))
		}
		path := fileOf(t, lines...)
		synctest.Test(t, func(t *testing.T) {
			r := newReplay(path)
			r.Rate = tc.rate
			same(t, "lines", r.want(t, "0 1 2 3 4 5 6 7 8 9|").Lines, 10)
			same(t, fmt.Sprintf("time at %v a second", tc.rate), r.daemon.times[len(r.daemon.times)-1], tc.took)
		})
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	path := letterFile(t)
	r := newReplay(path)
	var would []int
	r.Dry, r.Target = func(rec *Record) error { would = append(would, rec.Number); return nil }, nil
	same(t, "counts", r.want(t, "|"), Counts{Lines: 2, Deliveries: 2, Results: 3, Damaged: 1})
	same(t, "records", fmt.Sprint(would), "[1 2 4 5]")
	if _, err := os.Stat(r.State); !os.IsNotExist(err) {
		t.Errorf("the state was written: %v", err)
	}
}

func TestAReplayIsKeptFromItsOwnFiles(t *testing.T) {
	path := letterFile(t)
	own := newReplay(path)
	own.Target.(*sinkTarget).spec.Target = path
	own.want(t, "||sink 'rec://' is the file that is replayed")
	state := newReplay(path)
	state.State = path
	state.want(t, "||--state: "+path+" is the file that is replayed")
	unwritable := newReplay(path)
	unwritable.State = path + "/none/state"
	_, err := unwritable.run(t)
	contains(t, err, "progress: ")
	same(t, "requests before that", len(unwritable.daemon.bodies), 0)
	release, err := lock(path)
	if err != nil {
		t.Fatal(err)
	}
	newReplay(path).want(t, "||"+path+" is being replayed by another process")
	release()
	newReplay(path).want(t, "a b|A B C")
}
