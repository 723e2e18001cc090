package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/inputs"
	"github.com/sluicehq/sluice/sources"
)

// An event that counts twice is counted twice by Count and once by Distinct.
const onceRules = `title: Base
id: id-base
detection: {sel: {C: evil}, condition: sel}
---
title: Count
id: id-count
correlation: {type: event_count, rules: [id-base], group-by: [U], timespan: 1h, condition: {gte: 3}}
---
title: Distinct
id: id-distinct
correlation: {type: value_count, rules: [id-base], group-by: [U], timespan: 1h, condition: {gte: 1000000, field: N}}
`

// pending is how many unacknowledged messages the streams of these tests deliver.
const pending = 40

// event is the n-th message.
func event(n int) string { return fmt.Sprintf(`{"C":"evil","U":"u%d","N":"%d"}`, n%4, n) }

// streamed builds a daemon on the rules and the state below dir whose input is
// the stream that dial reaches.
func streamed(dir, ackMode string, dial func() (net.Conn, error), out io.Writer, log *slog.Logger, change func(*config.Daemon)) (*Daemon, error) {
	cfg := &config.Loaded{Config: config.Default()}
	c := &cfg.Config.Daemon
	c.Rules, c.Input.Sources, c.API.Addr = []string{filepath.Join(dir, "rules.yml")}, []string{"stream://test"}, "127.0.0.1:0"
	c.State.DB, c.NATS.AckMode, c.Output.DrainTimeout = filepath.Join(dir, "state"), ackMode, 5
	if change != nil {
		change(c)
	}
	stream := inputs.Kind{Name: "stream", Schemes: []string{"stream"}, Open: func(env inputs.Environment, _ inputs.Spec) (inputs.Opened, error) {
		conn, err := dial()
		if err != nil {
			return inputs.Opened{}, err
		}
		return inputs.Opened{Source: NewStreamSource(conn, sources.LedgerOptions{
			Stream: "test", Consumer: "sluice", Snapshot: env.Config.NATS.AckMode == "snapshot", Limit: pending,
		}, 0)}, nil
	}}
	return New(context.Background(), Options{
		Config: cfg, Log: log, Out: out, Err: os.Stderr, kinds: []inputs.Kind{stream},
	})
}

// totals are how many events the windows hold, and how many different ones.
func (d *Daemon) totals() (count, distinct int) {
	var answer struct {
		Groups []struct {
			CorrelationID string `json:"correlation_id"`
			Got           int    `json:"got"`
		} `json:"groups"`
	}
	if err := json.Unmarshal([]byte(d.call("GET", "/api/v1/correlations/state", "")), &answer); err != nil {
		panic(err)
	}
	for _, g := range answer.Groups {
		if g.CorrelationID == "id-count" {
			count += g.Got
		} else {
			distinct += g.Got
		}
	}
	return count, distinct
}

// uninterrupted returns the correlation results of a run that nothing happens to.
func uninterrupted(t *testing.T, events int) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	writeRules(t, dir)
	s := NewStream(StreamOptions{Pending: pending})
	for n := range events {
		s.Publish(event(n))
	}
	fired := make(map[string]bool)
	l := begin(t, dir, "delivered", s, place{}, fired)
	go l.finish(s)
	l.read("# dead")
	if err := l.cmd.Wait(); err != nil {
		t.Fatalf("%v:\n%s", err, l.log.String())
	}
	return fired
}

func writeRules(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "rules.yml"), []byte(onceRules), 0o600); err != nil {
		t.Fatal(err)
	}
}

// attached runs a daemon of this process on a stream until the test is done with
// it. It saves at the end and when it is asked to.
func attached(t *testing.T, dir, mode string, s *Stream, out io.Writer, change func(*config.Daemon)) *Daemon {
	t.Helper()
	dial := func() (net.Conn, error) {
		near, far := net.Pipe()
		go s.Serve(far)
		return near, nil
	}
	d, err := streamed(dir, mode, dial, out, slog.New(slog.DiscardHandler), change)
	if err != nil {
		t.Fatal(err)
	}
	d.checkpointer.interval = time.Hour
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	return d
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for begin := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatalf("%s: not yet", what)
		}
	}
}

func published(n int) *Stream {
	s := NewStream(StreamOptions{Pending: pending})
	for i := range n {
		s.Publish(event(i))
	}
	return s
}

func (d *Daemon) wantTotals(t *testing.T, count, distinct int) {
	t.Helper()
	if c, n := d.totals(); c != count || n != distinct {
		t.Errorf("the windows hold %d events of which %d are different, want %d and %d", c, n, count, distinct)
	}
}

func acknowledged(s *Stream) (n int) {
	for _, a := range s.Acks() {
		n += min(a, 1)
	}
	return n
}

func TestALastSaveAcknowledgesWhatItCovers(t *testing.T) {
	dir := t.TempDir()
	writeRules(t, dir)
	s := published(10)
	d := attached(t, dir, "snapshot", s, io.Discard, nil)
	eventually(t, "10 events counted", func() bool { n, _ := d.totals(); return n == 10 })
	if n := acknowledged(s); n != 0 {
		t.Errorf("%d messages are acknowledged before a save, want none", n)
	}
	if err := d.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if n := acknowledged(s); n != 10 {
		t.Errorf("%d messages are acknowledged by the last save, want 10", n)
	}
	s.Publish(event(10))
	d = attached(t, dir, "snapshot", s, io.Discard, nil)
	eventually(t, "the eleventh event counted", func() bool { n, _ := d.totals(); return n == 11 })
	d.wantTotals(t, 11, 11)
	head, err := d.checkpointer.series.Head()
	if err != nil || head.Position == nil || head.Position.Sequence != 14 || head.Position.Time != Published(14) {
		t.Errorf("head %+v, %v, want the position of the tenth message, 14", head, err)
	}
	if err := d.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func TestASaveBeginsEarlyWhenTheStreamWouldHoldMessagesBack(t *testing.T) {
	dir := t.TempDir()
	writeRules(t, dir)
	s := published(10 * pending)
	d := attached(t, dir, "snapshot", s, io.Discard, nil) // the first save by interval is an hour away
	eventually(t, "everything delivered", func() bool { n, _ := d.totals(); return n == 10*pending })
	if err := d.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if n := acknowledged(s); n != 10*pending {
		t.Errorf("%d messages are acknowledged, want all %d", n, 10*pending)
	}
}

// stuck is a sink that takes some writes and then waits to be freed.
type stuck struct {
	mu    sync.Mutex
	takes int
	freed chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	s.mu.Lock()
	s.takes--
	waits := s.takes < 0
	s.mu.Unlock()
	if waits {
		<-s.freed
	}
	return len(b), nil
}

func TestTheSaveBeforeStaysCurrentWhenTheDrainLeavesLinesOpen(t *testing.T) {
	for _, mode := range []string{"delivered", "snapshot"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeRules(t, dir)
			s := published(5)
			out := &stuck{takes: 1000, freed: make(chan struct{})}
			d := attached(t, dir, mode, s, out, func(c *config.Daemon) { c.Output.DrainTimeout = 1 })
			eventually(t, "5 events counted", func() bool { n, _ := d.totals(); return n == 5 })
			if err := d.checkpointer.save(t.Context()); err != nil {
				t.Fatal(err)
			}
			eventually(t, "5 messages acknowledged", func() bool { return acknowledged(s) == 5 })
			out.mu.Lock()
			out.takes = 0
			out.mu.Unlock()
			for n := range 5 {
				s.Publish(event(5 + n))
			}
			eventually(t, "10 events counted", func() bool { n, _ := d.totals(); return n == 10 })
			err := d.Stop()
			close(out.freed)
			if err == nil || !strings.Contains(err.Error(), "messages of the input did not end in time") {
				t.Errorf("stop: %v, want that messages did not end", err)
			}
			if n := acknowledged(s); n != 5 {
				t.Errorf("%d messages are acknowledged, want the 5 that were saved", n)
			}
			d = attached(t, dir, mode, s, io.Discard, nil)
			eventually(t, "all acknowledged or counted", func() bool { n, _ := d.totals(); return n >= 10 })
			d.wantTotals(t, 10, 10)
			if err := d.Stop(); err != nil {
				t.Errorf("stop: %v", err)
			}
		})
	}
}

// What a save covers is evaluated again only when the state is given up, and a run
// with another input forgets neither it nor the position.
func TestCoveredMessagesFollowTheStateTheyAreIn(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*config.Daemon)
	}{
		{"a restored state", nil},
		{"a cleared state", func(c *config.Daemon) { c.State.Clear = true }},
		{"a state that the replay does not fit", func(c *config.Daemon) { c.NATS.ReplayFromSequence = "3" }},
		{"a state that is kept all the same", func(c *config.Daemon) { c.NATS.ReplayFromSequence, c.State.Keep = "3", true }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeRules(t, dir)
			s := published(10)
			s.LoseAcks(true, false)
			d := attached(t, dir, "snapshot", s, io.Discard, nil)
			eventually(t, "10 events counted", func() bool { n, _ := d.totals(); return n == 10 })
			_ = d.Stop() // nothing is acknowledged
			between(t, dir)
			s.LoseAcks(false, false)
			d = attached(t, dir, "snapshot", s, io.Discard, tc.change)
			restored := d.checkpointer.restores
			ledger := d.inputs.All()[0].Source.(*StreamSource).Ledger
			eventually(t, "10 messages delivered again", func() bool {
				n, _ := d.totals()
				return n == 10 && (!restored || acknowledged(s) == 10)
			})
			d.wantTotals(t, 10, 10)
			if n := ledger.Repeats(); restored && n != 10 || !restored && n != 0 {
				t.Errorf("%d messages were acknowledged without evaluation; restored: %v", n, restored)
			}
			if err := d.Stop(); err != nil {
				t.Errorf("stop: %v", err)
			}
		})
	}
}

// between is a run on the same state whose input cannot deliver again.
func between(t *testing.T, dir string) {
	t.Helper()
	d, err := stateful(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	if err := d.checkpointer.save(t.Context()); err != nil {
		t.Error(err)
	}
	head, err := d.checkpointer.series.Head()
	if err != nil || head.Position == nil || head.Position.Sequence != 14 || len(head.Covered) != 1 {
		t.Errorf("head %+v, %v, want the position and what is covered kept", head, err)
	}
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
}
