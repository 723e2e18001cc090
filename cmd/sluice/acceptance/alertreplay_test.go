package acceptance

import (
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// A replay brings alerts and incidents about again, so those that are stored do not come
// back. It does not bring silences about.
func TestSilencesComeBackWhenTheInputIsReadAgain(t *testing.T) {
	t.Parallel()
	b := newBus(t, jetstream.ConsumerConfig{})
	dir := t.TempDir()
	rules := write(t, dir, "r.yml", rule("A", "evil")+"---\n"+rule("B", "bad"))
	file := write(t, dir, "alerts.yml", "dedup: {fingerprint: [match.C]}\ngroup: {by: [match.C], group_wait: 1h, resolve_timeout: 2h}")
	life := func(args ...string) *daemon {
		t.Helper()
		return start(t, append([]string{"-r", rules, "--input", b.target, "--state-db", filepath.Join(dir, "state"), "--alert-pipeline", file}, args...)...)
	}
	d := life()
	d.silence("id-B")
	d.silence("id-C")
	b.publish(event("bad"), event("evil 1"), event("evil 2"))
	d.await("the events", func() bool { return b.open() == 0 })
	d.stop()
	d.wantWritten("A A")

	d = life() // what is stored is there
	if n := d.metric("svc_incidents_open"); n != 2 {
		t.Errorf("%g incidents are open after a restart, want 2", n)
	}
	d.stop()

	d = life("--replay-from-latest")
	if got := d.awaitLog("restore of state decided")["restore"]; got != false {
		t.Errorf("the state comes back: %v", got)
	}
	d.wantSilences("api id-B active, api id-C active")
	b.publish(event("bad"))
	d.await("the events", func() bool { return d.metric("svc_events_processed_total") == 2 && b.open() == 0 })
	if n := d.metric("svc_incidents_open"); n != 1 {
		t.Errorf("%g incidents are open after the replay of one event, want 1", n)
	}
	d.stop()
	d.wantWritten("A")

	for range 2 { // cleared once is cleared for ever
		d = life("--replay-from-latest", "--clear-state")
		d.wantSilences("")
		d.stop()
		d = life()
		d.wantSilences("")
		d.stop()
	}
}
