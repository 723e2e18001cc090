package acceptance

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

const (
	failuresOfNATS = `svc_sink_delivery_failures_total{sink="nats"}`
	dropsOfNATS    = `svc_sink_dropped_total{sink="nats"}`
)

// Reloads by signal and by changed rules, while batches are on their way to a server that goes
// away and comes back, lose no result and double none.
func TestReloadsWhileTheServerOfASinkComesAndGoes(t *testing.T) {
	const rounds, perRound = 3, 200
	forever := []string{"--sink-retry-max", "100000", "--sink-backoff-max-ms", "50"}
	soon := []string{"--sink-retry-max", "1", "--sink-backoff-base-ms", "1"}
	for _, tc := range []struct {
		name     string
		batches  bool // the stream takes batches
		policy   string
		args     []string
		failing  bool // some are dead letters
		dropping bool
		restart  bool // a daemon ends while the server is away, and another one begins
	}{
		{name: "one by one", args: forever},
		{name: "in batches", batches: true, args: forever},
		{name: "with few tries", args: soon, failing: true},
		{name: "in batches with few tries", batches: true, args: soon, failing: true},
		{name: "and what is too much is dropped", policy: "?on_full=drop", args: append(forever, "--buffer-size", "20"), dropping: true},
		{name: "and few tries, and what is too much is dropped", batches: true, policy: "?on_full=drop", args: append(soon, "--buffer-size", "20"), failing: true, dropping: true},
		{name: "and the daemon is another one", batches: true, args: append(forever, "--drain-timeout", "1"), restart: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			wait := standstill
			if tc.restart {
				wait = 2 * time.Second // until what the first daemon left comes again
			}
			b := newBus(t, jetstream.ConsumerConfig{AckWait: wait})
			s := natstest.Start(t, nil)
			nc, js := s.Client()
			if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "FOUND", Subjects: []string{"found"}, AllowBatchPublish: tc.batches, Duplicates: time.Hour}); err != nil {
				t.Fatal(err)
			}
			nc.Close()
			dir := t.TempDir()
			write(t, dir, "rules/a.yml", rule("Rule 0", "evil"))
			args := append([]string{"-r", "rules", "--input", b.target, "--output", "nats://" + s.Target("found") + tc.policy, "--dlq", "file://" + dir + "/dead", "--sink-batch-max", "4"}, tc.args...)
			d := startIn(t, dir, args...)
			for round := range rounds {
				b.publish(evilOnes(round*perRound, round*perRound+perRound/2)...)
				s.Down()
				d.signal(syscall.SIGHUP)
				b.publish(evilOnes(round*perRound+perRound/2, (round+1)*perRound)...)
				d.awaitReload("signal", true)
				replace(t, dir, "rules/a.yml", rule(fmt.Sprint("Rule ", round+1), "evil"))
				d.awaitReload("file", true)
				d.await("what the server's absence costs", func() bool {
					return (!tc.failing || d.metric(failuresOfNATS) > 0) && (!tc.dropping || d.metric(dropsOfNATS) > 0)
				})
				if tc.restart && round == rounds-2 {
					d.stop()
				}
				s.Up()
				if tc.restart && round == rounds-2 {
					d = startIn(t, dir, args...)
				}
			}
			d.await("everything acknowledged", func() bool { return b.open() == 0 })
			failures, dropped := d.metric(failuresOfNATS), d.metric(dropsOfNATS)
			handed := d.metric("svc_dlq_events_total")
			if left := d.metric(`svc_sink_queue_depth{sink="nats"}`); left != 0 {
				t.Errorf("the queue holds %v, want nothing", left)
			}
			d.stop()
			letters := output(filepath.Join(dir, "dead")).lines()
			stored := natstest.Bodies(s.Stored("FOUND"))
			times, late := make(map[string]int), 0
			for _, l := range stored {
				times[numberedEvil.FindString(l)]++
			}
			for n, k := range times {
				if k != 1 {
					t.Errorf("%q is stored %d times", n, k)
				}
			}
			for _, l := range letters {
				if strings.Contains(l, "drain timeout") {
					late++
				}
				times[numberedEvil.FindString(l)]++
			}
			if both, all := len(stored)+len(letters)-len(times), rounds*perRound; len(times)+int(dropped) != all {
				t.Errorf("%d results are stored, %d dead letters (%d of them stored as well), %v dropped, want %d", len(stored), len(letters), both, dropped, all)
			}
			if int(failures) != len(letters)-late || int(handed) != int(failures) && !tc.restart {
				t.Errorf("%v failures and %v dead letters are counted, want %d", failures, handed, len(letters)-late)
			}
			if !tc.failing && len(letters) > late || late > 0 && !tc.restart {
				t.Errorf("%d dead letters, %d late, the first: %s", len(letters), late, letters[0])
			}
			if tc.failing && len(letters) == 0 || tc.dropping != (dropped > 0) {
				t.Errorf("%d dead letters and %v drops: this tests nothing", len(letters), dropped)
			}
			last := fmt.Sprintf(`"rule_title":"Rule %d"`, rounds-1)
			if !tc.failing && !tc.dropping && !slices.ContainsFunc(stored, func(l string) bool { return strings.Contains(l, last) }) {
				t.Errorf("no result is of the rules of the last reload but one")
			}
		})
	}
}
