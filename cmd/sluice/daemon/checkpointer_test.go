package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/state"
)

// text is a stage's state that is a text.
type text struct {
	revision uint64
	content  string
}

func (v text) Revision() uint64 { return v.revision }

func (v text) Encode(w io.Writer, _ int64) error {
	_, err := io.WriteString(w, v.content)
	return err
}

// textPart is the part of a stage whose state is a text.
func textPart() actors.SavedPart {
	return actors.SavedPart{Stage: graph.StageCorrelate, Name: "correlation", Version: 1}
}

// stream stands for the stages: barriers pass at once and take export along.
type stream struct {
	export any
	epoch  *graph.Epoch
	kept   map[graph.Stage]any // of the last save that counted
}

func (s *stream) cut(_ context.Context, b *graph.Barrier) error {
	s.epoch = b.Enter(s.epoch)
	b.Export(graph.StageCorrelate, s.export)
	b.Export(graph.StageDispatch, nil)
	return nil
}

func (s *stream) current(exports map[graph.Stage]any, _ time.Time) { s.kept = exports }

// openCheckpointer opens a database under a configuration and decides what comes back.
func openCheckpointer(t *testing.T, dir string, s *stream, cfg config.Daemon) (*checkpointer, *bytes.Buffer) {
	t.Helper()
	var logged bytes.Buffer
	store, err := state.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := newCheckpointer(store, time.Hour, slog.New(slog.NewTextHandler(&logged, nil)))
	s.epoch = graph.NewEpoch(nil)
	c.cut, c.current = s.cut, s.current
	c.decide(&cfg, nil)
	c.begin([]actors.SavedPart{textPart()})
	return c, &logged
}

func (c *checkpointer) mustSave(t *testing.T) {
	t.Helper()
	if err := c.save(t.Context()); err != nil {
		t.Fatalf("save: %v", err)
	}
}

// content is the part as the current save has it.
func (c *checkpointer) content(t *testing.T) string {
	t.Helper()
	c.decide(&config.Daemon{}, nil)
	return c.stored(t)
}

// stored reads the part back, empty when there is none to restore.
func (c *checkpointer) stored(t *testing.T) string {
	t.Helper()
	var b []byte
	p := textPart()
	p.Restore = func(r io.Reader, _ time.Time) (err error) {
		b, err = io.ReadAll(r)
		return err
	}
	c.begin([]actors.SavedPart{p})
	return string(b)
}

func TestRestoreIsDecidedByWhatIsReplayed(t *testing.T) {
	for _, tc := range []struct {
		name   string
		cfg    config.Daemon
		stored []state.Position
		want   bool
	}{
		{"no replay and nothing stored", config.Daemon{}, nil, true},
		{"no replay with a position", config.Daemon{}, []state.Position{{Sequence: 100}}, true},
		{"behind the stored sequence", fromSequence("101"), []state.Position{{Sequence: 100}}, true},
		{"from the stored sequence", fromSequence("100"), []state.Position{{Sequence: 100}}, false},
		{"before the stored sequence", fromSequence("50"), []state.Position{{Sequence: 100}}, false},
		{"behind one of two stored sequences", fromSequence("101"), []state.Position{{Stream: "a", Sequence: 100}, {Stream: "b", Sequence: 101}}, false},
		{"behind both stored sequences", fromSequence("102"), []state.Position{{Stream: "a", Sequence: 100}, {Stream: "b", Sequence: 101}}, true},
		{"behind one of two stored times", fromTime(1001), []state.Position{{Stream: "a", Time: 1000}, {Stream: "b", Time: 1001}}, false},
		{"a sequence and no stored position", fromSequence("42"), nil, false},
		{"behind the stored time", fromTime(2000), []state.Position{{Time: 1000}}, true},
		{"before the stored time", fromTime(500), []state.Position{{Time: 1000}}, false},
		{"at the stored time", fromTime(1000), []state.Position{{Time: 1000}}, false},
		{"a time and no stored position", fromTime(2000), nil, false},
		{"from the latest", config.Daemon{NATS: config.NATS{Input: natsconn.Input{ReplayFromLatest: true}}}, []state.Position{{Sequence: 1}}, false},
		{"clearing", config.Daemon{State: state.Config{Clear: true}}, nil, false},
		{"keeping, whatever is replayed", config.Daemon{
			State: state.Config{Keep: true}, NATS: config.NATS{Input: natsconn.Input{ReplayFromSequence: "42"}},
		}, nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, reason := restores(&tc.cfg, tc.stored); got != tc.want {
				t.Errorf("restore = %v (%s), want %v", got, reason, tc.want)
			}
		})
	}
}

func TestOnlyPositionsOfStreamsThatAreReadDecide(t *testing.T) {
	dir := t.TempDir()
	store, err := state.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	v, err := store.Series("save").Begin()
	if err == nil {
		err = v.Commit(1, state.Position{Stream: "events", Sequence: 100, Time: 1000},
			state.Position{Stream: "topic/0@id", Sequence: 5_000_000, Time: 9000}, state.Position{Stream: "renamed", Sequence: 7000, Time: 8000})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name    string
		cfg     config.Daemon
		streams []string
		want    bool
		logged  string
	}{
		{"behind the one that is read", fromSequence("101"), []string{"events"}, true, "stored_sequence=100 stored_time=1000"},
		{"at the one that is read", fromSequence("100"), []string{"events"}, false, "stored_sequence=100 stored_time=1000"},
		{"behind one of two that are read", fromSequence("101"), []string{"events", "renamed"}, false, "stored_sequence=7000 stored_time=8000"},
		{"a stream that nothing is stored of", fromSequence("101"), []string{"new"}, false, "no position is stored"},
		{"a time behind the one that is read", fromTime(1001), []string{"events"}, true, "stored_sequence=100 stored_time=1000"},
	} {
		var log bytes.Buffer
		c := newCheckpointer(store, time.Hour, slog.New(slog.NewTextHandler(&log, nil)))
		c.decide(&tc.cfg, tc.streams)
		if c.restores != tc.want || !strings.Contains(log.String(), tc.logged) {
			t.Errorf("%s: restores %t, want %t and %q logged:\n%s", tc.name, c.restores, tc.want, tc.logged, log.String())
		}
	}
}

func fromSequence(n string) config.Daemon {
	return config.Daemon{NATS: config.NATS{Input: natsconn.Input{ReplayFromSequence: n}}}
}

func fromTime(seconds int64) config.Daemon {
	return config.Daemon{NATS: config.NATS{Input: natsconn.Input{ReplayFromTime: time.Unix(seconds, 0).UTC().Format(time.RFC3339)}}}
}

func TestWhatABarrierCutComesBack(t *testing.T) {
	dir := t.TempDir()
	s := &stream{export: text{1, "one"}}
	c, _ := openCheckpointer(t, dir, s, config.Daemon{})
	c.mustSave(t)
	s.export = text{2, "two"}
	c.mustSave(t)
	if s.kept[graph.StageCorrelate] != s.export {
		t.Errorf("current save = %v, want %v", s.kept, s.export)
	}
	if err := c.close([]actors.Drained{{Actor: "parse"}, {Actor: "correlate", Export: text{3, "final"}}}); err != nil {
		t.Fatal(err)
	}
	c, logged := openCheckpointer(t, dir, s, config.Daemon{})
	if got := c.stored(t); got != "final" {
		t.Errorf("restored %q, want %q\n%s", got, "final", logged)
	}
}

// closing is a context that ends when nothing is left to do.
type closing struct{ context.Context }

func (c closing) Done() <-chan struct{} {
	synctest.Wait()
	return c.Context.Done()
}

func TestASaveThatEndsWithItsTimeIsASave(t *testing.T) {
	for range 10 { // a select takes either
		s := &stream{export: text{1, "one"}}
		c, _ := openCheckpointer(t, t.TempDir(), s, config.Daemon{})
		synctest.Test(t, func(t *testing.T) {
			over, cancel := context.WithCancel(t.Context())
			cancel()
			if err := c.closeUntil(closing{over}, nil); err != nil {
				t.Errorf("got %v, though everything was written and closed", err)
			}
		})
	}
}

func TestAnAbandonedStageKeepsItsStoredPart(t *testing.T) {
	dir := t.TempDir()
	s := &stream{export: text{1, "one"}}
	c, _ := openCheckpointer(t, dir, s, config.Daemon{})
	c.mustSave(t)
	if err := c.close([]actors.Drained{{Actor: "correlate", Expired: true}}); err != nil {
		t.Fatal(err)
	}
	c, _ = openCheckpointer(t, dir, s, config.Daemon{})
	if got := c.stored(t); got != "one" {
		t.Errorf("restored %q, want %q", got, "one")
	}
}

// With an input that delivers again, a stage without its final export would make
// messages be acknowledged whose effect no save holds.
func TestTheSaveBeforeStaysCurrentWhenAStageIsAbandoned(t *testing.T) {
	s := &stream{export: text{1, "one"}}
	c, _ := openCheckpointer(t, t.TempDir(), s, config.Daemon{})
	ledger := sources.NewLedger[int](sources.LedgerOptions{Stream: "s", Consumer: "c", Snapshot: true, Limit: 10})
	c.follow([]sources.Positions{ledger})
	c.mustSave(t)
	line := ledger.Deliver(graph.Position{Sequence: 1}, 1)
	line.Entered(2)
	line.Ended()
	if err := c.last(t.Context(), []actors.Drained{{Actor: "correlate", Expired: true}}); err == nil {
		t.Error("the last save: no error, want one that names the stage")
	}
	if acks := ledger.Acks(nil); len(acks) > 0 {
		t.Errorf("due: %v, want nothing acknowledged", acks)
	}
	if err := c.last(t.Context(), []actors.Drained{{Actor: "correlate", Export: text{2, "two"}}}); err != nil {
		t.Errorf("the last save: %v", err)
	}
	if acks := ledger.Acks(nil); len(acks) != 1 {
		t.Errorf("due: %v, want the one message", acks)
	}
}

// Servers may have streams and consumers of the same names, and a run may read some of the
// inputs of the run before.
func TestTheHeadSpeaksOfEachInputByItself(t *testing.T) {
	dir, s := t.TempDir(), &stream{export: text{1, "one"}}
	c, _ := openCheckpointer(t, dir, s, config.Daemon{})
	book := func(identity string) *sources.Ledger[int] {
		return sources.NewLedger[int](sources.LedgerOptions{Stream: "s", Identity: identity, Consumer: "c", Snapshot: true, Limit: 10})
	}
	a, b := book("s@1"), book("s@2")
	c.follow([]sources.Positions{a, b})
	line := a.Deliver(graph.Position{Sequence: 5, Time: 1005}, 1)
	line.Entered(1)
	line.Ended()
	c.mustSave(t)
	said := func() string {
		h, err := c.series.Head()
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, p := range h.Positions() {
			texts = append(texts, fmt.Sprint(p.Stream, " ", p.Sequence))
		}
		for _, o := range h.Covered {
			texts = append(texts, fmt.Sprint(o.Stream, " ", slices.Collect(o.Ranges.All())))
		}
		return strings.Join(texts, ", ")
	}
	if got, want := said(), "s@1 5, s@1 [5], s@2 []"; got != want {
		t.Errorf("the head says %q, want %q", got, want)
	}
	_ = c.store.Close()

	c, _ = openCheckpointer(t, dir, s, config.Daemon{})
	c.follow([]sources.Positions{book("s@2")})
	s.export = text{2, "two"}
	c.mustSave(t)
	if got, want := said(), "s@1 5, s@2 [], s@1 [5]"; got != want {
		t.Errorf("behind a run on another input the head says %q, want %q", got, want)
	}
	_ = c.store.Close()

	c, _ = openCheckpointer(t, dir, s, config.Daemon{State: state.Config{Clear: true}})
	s.export = text{3, "three"}
	c.mustSave(t)
	if got := said(); got != "" {
		t.Errorf("behind a run without the stored state the head says %q, want nothing", got)
	}
}

func TestAnUnchangedPartIsNotWrittenAgain(t *testing.T) {
	s := &stream{export: text{1, "one"}}
	c, _ := openCheckpointer(t, t.TempDir(), s, config.Daemon{})
	generation := func() uint64 {
		h, err := c.series.Head()
		if err != nil {
			t.Fatal(err)
		}
		return h.Parts["correlation"].Generation
	}
	c.mustSave(t)
	first := generation()
	c.mustSave(t)
	if got := generation(); got != first {
		t.Errorf("generation %d after a save without change, want %d", got, first)
	}
	s.export = text{2, "two"}
	c.mustSave(t)
	if got := generation(); got == first {
		t.Errorf("generation %d after a change, want another", got)
	}
	s.export = nil // the rules have no correlations any more
	c.mustSave(t)
	if got := c.content(t); got != "two" {
		t.Errorf("without correlations %q is stored, want %q", got, "two")
	}
}

// The save before stays current until everything before the
// barrier has ended.
func TestASaveWaitsForWhatTheBarrierCut(t *testing.T) {
	dir := t.TempDir()
	s := &stream{export: text{1, "before"}}
	c, _ := openCheckpointer(t, dir, s, config.Daemon{})
	c.mustSave(t)
	receipt := graph.NewReceipt(1, func() {})
	token := receipt.Token(0).In(s.epoch)
	s.export = text{2, "during"}
	ctx, cancel := context.WithCancel(t.Context())
	saved := make(chan error, 1)
	go func() { saved <- c.save(ctx) }()
	select {
	case err := <-saved:
		t.Fatalf("the save ended with a token open: %v", err)
	case <-time.After(50 * time.Millisecond): // long enough for a save that does not wait
	}
	cancel()
	if err := <-saved; !errors.Is(err, context.Canceled) {
		t.Errorf("save: %v, want canceled", err)
	}
	if got := c.content(t); got != "before" {
		t.Errorf("stored %q, want %q", got, "before")
	}
	token.Settle()
	c.mustSave(t)
	if got := c.content(t); got != "during" {
		t.Errorf("stored %q after the token settled, want %q", got, "during")
	}
}

func TestClearedStateDoesNotComeBackLater(t *testing.T) {
	dir := t.TempDir()
	s := &stream{export: text{1, "old"}}
	c, _ := openCheckpointer(t, dir, s, config.Daemon{})
	c.mustSave(t)
	if err := c.close(nil); err != nil {
		t.Fatal(err)
	}
	c, _ = openCheckpointer(t, dir, s, config.Daemon{State: state.Config{Clear: true}})
	if got := c.stored(t); got != "" {
		t.Errorf("restored %q, want nothing", got)
	}
	s.export = nil // and without correlations
	c.mustSave(t)
	if err := c.close(nil); err != nil {
		t.Fatal(err)
	}
	c, _ = openCheckpointer(t, dir, s, config.Daemon{})
	if got := c.stored(t); got != "" {
		t.Errorf("restored %q at the start after, want nothing", got)
	}
}

func TestWhatCannotBeUsedIsSetAside(t *testing.T) {
	save := func(t *testing.T, c *checkpointer, version int) {
		t.Helper()
		v, err := c.series.Begin()
		if err != nil {
			t.Fatal(err)
		}
		err = v.Write("correlation", version, func(w io.Writer) error { _, err := w.Write([]byte("x")); return err })
		if err = errors.Join(err, v.Commit(1)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name    string
		version int
		read    error
		want    []string // in the log
		stays   bool     // without a new export the part stays what it is
	}{
		{"another version is told with both", 2, nil, []string{"level=WARN", "another version", "stored=2", "known=1"}, true},
		{"an undecodable part is told by name", 1, errors.New("boom"), []string{"level=WARN", "part=correlation", "boom"}, false},
		{"a part that reads is no news", 1, nil, nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, logged := openCheckpointer(t, t.TempDir(), &stream{}, config.Daemon{})
			save(t, c, tc.version)
			c.decide(&config.Daemon{}, nil)
			logged.Reset()
			p := textPart()
			p.Restore = func(io.Reader, time.Time) error { return tc.read }
			c.begin([]actors.SavedPart{p})
			for _, w := range tc.want {
				if !strings.Contains(logged.String(), w) {
					t.Errorf("log lacks %q:\n%s", w, logged)
				}
			}
			if tc.want == nil && logged.Len() > 0 {
				t.Errorf("log is %s, want nothing", logged)
			}
			c.mustSave(t)
			if h, _ := c.series.Head(); (h.Parts["correlation"].Chunks == 1) != tc.stays {
				t.Errorf("parts after the next save: %v, want the stored one: %v", h.Parts, tc.stays)
			}
		})
	}
}

// halfway fails after its content.
type halfway struct{ text }

func (v halfway) Encode(w io.Writer, savedAt int64) error {
	return errors.Join(v.text.Encode(w, savedAt), errors.New("no space"))
}

func TestASaveThatFailsHalfwayTellsHowFarItCame(t *testing.T) {
	s := &stream{export: text{1, "one"}}
	c, _ := openCheckpointer(t, t.TempDir(), s, config.Daemon{})
	c.mustSave(t)
	s.export = halfway{text{2, "1234567"}}
	if err := c.save(t.Context()); err == nil || err.Error() != "write part correlation: no space (after 7 bytes)" {
		t.Errorf("error %v, want one that tells the size", err)
	}
	if got := c.content(t); got != "one" {
		t.Errorf("the current save has %q, want that of the save before", got)
	}
}

// An interval that ends during a save is skipped, and failures are warnings.
func TestSavesRunOneAtATime(t *testing.T) {
	s := &stream{export: text{1, "one"}}
	c, logged := openCheckpointer(t, t.TempDir(), s, config.Daemon{})
	c.interval = time.Millisecond
	running, most, calls := 0, 0, make(chan struct{}, 3)
	c.start(func(context.Context, *graph.Barrier) error {
		running++
		most = max(most, running)
		time.Sleep(3 * time.Millisecond)
		running--
		select {
		case calls <- struct{}{}:
		default: // the test has seen enough and is on its way to close
		}
		return errors.New("no space")
	}, s.current)
	for range 3 {
		<-calls
	}
	if err := c.close(nil); err != nil {
		t.Fatal(err)
	}
	if most != 1 {
		t.Errorf("%d saves at a time, want 1", most)
	}
	if got := strings.Count(logged.String(), "level=WARN msg=\"state not saved\" err=\"no space\""); got < 2 {
		t.Errorf("%d warnings for three failed saves:\n%s", got, logged)
	}
}
