package acceptance

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsio "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

// bus is a server with the stream EVENTS of events.> and its consumer, as a test sees it.
type bus struct {
	t      *testing.T
	js     jetstream.JetStream
	target string // of the input
}

// durable is the consumer of a daemon that reads events.>.
const durable = "sluice-daemon-events"

// busOn makes stream and consumer on a server that nc leads to.
func busOn(t *testing.T, nc *natsio.Conn, addr string, c jetstream.ConsumerConfig) *bus {
	t.Helper()
	t.Cleanup(nc.Close)
	js, err := natstest.JetStream(nc)
	if err != nil {
		t.Fatal(err)
	}
	b := &bus{t, js, "nats://" + addr + "/events.>"}
	c.Durable, c.AckPolicy, c.FilterSubject = durable, jetstream.AckExplicitPolicy, "events.>"
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"events.>"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateConsumer(t.Context(), "EVENTS", c); err != nil {
		t.Fatal(err)
	}
	return b
}

// newBus starts a server of its own.
func newBus(t *testing.T, c jetstream.ConsumerConfig) *bus {
	t.Helper()
	s := natstest.Start(t, nil)
	nc, _ := s.Client()
	addr, _, _ := strings.Cut(s.Target(""), "/")
	return busOn(t, nc, addr, c)
}

// publish publishes one message each.
func (b *bus) publish(lines ...string) {
	b.t.Helper()
	for _, l := range lines {
		if _, err := b.js.Publish(b.t.Context(), "events.a", []byte(l)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// consumer is what the server knows of the consumer.
func (b *bus) consumer() *jetstream.ConsumerInfo {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := b.js.Consumer(ctx, "EVENTS", durable)
	if err != nil {
		b.t.Fatal(err)
	}
	return c.CachedInfo()
}

// open is how many messages are not acknowledged.
func (b *bus) open() int { i := b.consumer(); return i.NumAckPending + int(i.NumPending) }

// evilOnes are events from one number up to another, in four groups.
func evilOnes(from, to int) (all []string) {
	for n := from; n < to; n++ {
		all = append(all, numbered(n))
	}
	return all
}

func numbered(n int) string { return fmt.Sprintf(`{"C":"evil %d","U":"u%d"}`, n, n%4) }

// countingRules are rules of which the second counts an event that comes twice twice, and the
// third counts it once.
const countingRules = `title: Base
id: id-Base
level: high
detection: {sel: {C|contains: evil}, condition: sel}
---
title: Count
id: id-count
correlation: {type: event_count, rules: [id-Base], group-by: [U], timespan: 1h, condition: {gte: 3}, generate: true}
---
title: Distinct
id: id-distinct
correlation: {type: value_count, rules: [id-Base], group-by: [U], timespan: 1h, condition: {gte: 1000000, field: C}, generate: true}
`

// windows are how many events the windows hold, and how many different ones.
func (d *daemon) windows() (count, distinct int) {
	d.t.Helper()
	groups, _ := d.get("/api/v1/correlations/state").json(d.t)["groups"].([]any)
	for _, g := range groups {
		group := g.(map[string]any)
		if group["correlation_id"] == "id-count" {
			count += int(group["got"].(float64))
		} else {
			distinct += int(group["got"].(float64))
		}
	}
	return count, distinct
}

func (d *daemon) awaitWindows(count int) {
	d.t.Helper()
	d.await(fmt.Sprintf("%d events in the windows", count), func() bool { n, _ := d.windows(); return n >= count })
	if n, distinct := d.windows(); n != count || distinct != count {
		d.t.Errorf("the windows hold %d events of which %d are different, want %d", n, distinct, count)
	}
}

// Messages become events, each acknowledged when it has ended, whatever its end is.
func TestMessagesOfNATSAreAcknowledgedWhenTheyHaveEnded(t *testing.T) {
	t.Parallel()
	b := newBus(t, jetstream.ConsumerConfig{})
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	d := start(t, "-r", dir+"/rules", "--input", b.target+"?format=json", "--dlq", "file://"+dir+"/dead")
	b.publish(event("evil"), event("good"), "no event", "", `[{"C":"evil"},{"C":"evil"}]`, "[]")
	d.await("everything acknowledged", func() bool { return b.open() == 0 })
	b.publish(event("evil again"))
	d.await("one more", func() bool { return b.open() == 0 && len(d.stdout.lines()) == 4 })
	if got := d.metric("svc_events_processed_total"); got != 5 {
		t.Errorf("%v events processed, want 5", got)
	}
	if got := d.metric("svc_events_parse_errors_total"); got != 1 {
		t.Errorf("%v parse errors, want 1", got)
	}
	d.stop()
	if dead := output(dir + "/dead").lines(); len(dead) != 1 || !strings.Contains(dead[0], `"original_event":"no event"`) {
		t.Errorf("dead letters %q, want the one that is no event", dead)
	}
	if n := b.consumer().NumRedelivered; n != 0 {
		t.Errorf("%d messages were delivered again", n)
	}
}

// standstill is an ack_wait of consumers whose messages must not come again. A message is said
// to be in progress twice in it: a daemon may stand still for half of it.
const standstill = 8 * time.Second

// A message is acknowledged when the last sink has its result.
func TestAMessageWaitsForItsLastSink(t *testing.T) {
	t.Parallel()
	b := newBus(t, jetstream.ConsumerConfig{AckWait: standstill})
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	h := newHook(t, make503(4)...) // for 15 seconds
	write(t, dir, "hook.yml", fmt.Sprintf("webhooks:\n  - {id: slow, kind: detection, url: %q, body: '{}', retry: {backoff: 1s, attempts: 10}}\n", h.URL))
	d := start(t, "-r", dir+"/rules", "--input", b.target, "--webhook", dir+"/hook.yml")
	b.publish(event("evil"))
	d.await("a second attempt", func() bool { return len(h.all()) >= 2 && len(d.stdout.lines()) >= 1 })
	if n, lines := b.open(), d.stdout.lines(); len(lines) != 1 || n != 1 {
		t.Errorf("%d results on stdout and %d messages open, want one of each", len(lines), n)
	}
	d.await("the message acknowledged", func() bool { return b.open() == 0 })
	if n := len(h.all()); n != 5 {
		t.Errorf("acknowledged after %d attempts, want 5", n)
	}
	d.stop()
	if n := len(d.stdout.lines()); n != 1 {
		t.Errorf("%d results, want 1: the message was in progress", n)
	}
}

func make503(n int) (all []int) {
	for range n {
		all = append(all, 503)
	}
	return all
}

// What came behind the last save is redelivered in mode snapshot, and
// only then.
func TestWhatIsRedeliveredAfterAKill(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		mode string
		want int // events in the windows
	}{{"delivered", 50}, {"snapshot", 80}} {
		t.Run(tc.mode, func(t *testing.T) {
			t.Parallel()
			b := newBus(t, jetstream.ConsumerConfig{AckWait: standstill})
			dir := t.TempDir()
			rules := write(t, dir, "rules.yml", countingRules)
			args := []string{"-r", rules, "--input", b.target, "--state-db", dir + "/state", "--nats-ack-mode", tc.mode, "--log-level", "debug"}
			d := start(t, append(args, "--state-save-interval", "1")...)
			b.publish(evilOnes(0, 50)...)
			d.awaitWindows(50)
			d.awaitSave()
			d.await("50 acknowledged", func() bool { return b.open() == 0 })
			d.stop()
			d = start(t, append(args, "--state-save-interval", "3600")...)
			b.publish(evilOnes(50, 80)...)
			d.awaitWindows(80)
			if tc.mode == "delivered" {
				d.await("80 acknowledged", func() bool { return b.open() == 0 })
			} else if n := b.open(); n != 30 {
				t.Errorf("%d messages open before the save, want 30", n)
			}
			d.kill()
			d = start(t, append(args, "--state-save-interval", "3600")...)
			if fields := d.awaitLog("restore of state decided"); fields["restore"] != true || fields["stored_sequence"] != 50.0 {
				t.Errorf("decided %v, want a restore from sequence 50", fields)
			}
			d.awaitWindows(tc.want)
			if tc.mode == "snapshot" {
				b.publish(evilOnes(80, 90)...)
				d.awaitWindows(90)
			}
			d.stop() // its last save acknowledges what it covers
			if n := b.open(); n != 0 {
				t.Errorf("%d messages open, want none", n)
			}
		})
	}
}

// Acknowledgements that do not arrive before a kill. What a restored save
// covers is acknowledged and not evaluated.
func TestWhatASaveCoversIsNotEvaluatedAgain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, mode string
		clear      bool
		covered    float64
	}{
		{"acknowledgements that wait for the save", "snapshot", false, 50},
		{"acknowledgements that get lost", "delivered", false, 50},
		{"a state that is cleared", "snapshot", true, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBus(t, jetstream.ConsumerConfig{AckWait: standstill})
			addr, _, _ := strings.Cut(strings.TrimPrefix(b.target, "nats://"), "/")
			way := standBetween(t, addr, false)
			dir := t.TempDir()
			rules := write(t, dir, "rules.yml", countingRules)
			args := []string{"-r", rules, "--state-db", dir + "/state", "--nats-ack-mode", tc.mode, "--log-level", "debug", "--state-save-interval", "1"}
			d := start(t, append(args, "--input", "nats://"+way.listener.Addr().String()+"/events.>")...)
			d.await("pull requests", func() bool { return b.consumer().NumWaiting > 0 })
			close(way.still)
			b.publish(evilOnes(0, 50)...)
			d.awaitWindows(50)
			d.awaitSave()
			d.kill()
			if n := b.open(); n != 50 {
				t.Fatalf("%d messages are not acknowledged, want all 50", n)
			}
			b.publish(evilOnes(50, 60)...)
			if args = append(args, "--input", b.target); tc.clear {
				args = append(args, "--clear-state")
			}
			d = start(t, args...)
			d.awaitWindows(60)
			d.await("everything acknowledged", func() bool { return b.open() == 0 })
			if n := d.metric("svc_nats_covered_redeliveries_total"); n != tc.covered {
				t.Errorf("%v covered redeliveries, want %v", n, tc.covered)
			}
			d.stop()
		})
	}
}

// A sink that is down half of the time holds messages back. None is lost, none comes twice,
// and no more than the consumer lets out are in the daemon.
func TestASinkThatIsDownHalfOfTheTimeCausesNoRedelivery(t *testing.T) {
	t.Parallel()
	const messages, pending = 200, 100
	b := newBus(t, jetstream.ConsumerConfig{AckWait: standstill, MaxAckPending: pending})
	var statuses []int
	for range messages / 20 {
		statuses = append(append(statuses, make503(20)...), slices.Repeat([]int{200}, 20)...)
	}
	h := newHook(t, statuses...)
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	hook := write(t, dir, "hook.yml", fmt.Sprintf("webhooks:\n  - {id: h, kind: detection, url: %q, body: '${detection.fields.C}', retry: {attempts: 100000, backoff: 10ms, max_backoff: 100ms}}\n", h.URL))
	d := start(t, "-r", dir+"/rules", "--input", b.target, "--webhook", hook, "--buffer-size", "50")
	most := 0
	b.publish(evilOnes(0, messages)...)
	d.await("everything acknowledged", func() bool {
		c := b.consumer()
		most = max(most, c.NumAckPending)
		return c.NumAckPending == 0 && c.NumPending == 0
	})
	d.stop()
	if most > pending {
		t.Errorf("%d messages were in the daemon, want %d at most", most, pending)
	}
	if n := b.consumer().Delivered.Consumer; n != messages {
		t.Errorf("%d deliveries of %d messages: some came again", n, messages)
	}
	got := make(map[string]bool)
	for _, body := range h.all() {
		got[body] = true
	}
	if len(got) != messages {
		t.Errorf("%d different results arrived, want %d", len(got), messages)
	}
}

// Saves begin before the server holds messages back.
func TestASaveBeginsEarlyInSnapshotMode(t *testing.T) {
	t.Parallel()
	b := newBus(t, jetstream.ConsumerConfig{MaxAckPending: 100})
	dir := t.TempDir()
	rules := write(t, dir, "rules.yml", countingRules)
	d := start(t, "-r", rules, "--input", b.target, "--state-db", dir+"/state", "--nats-ack-mode", "snapshot", "--state-save-interval", "3600")
	b.publish(evilOnes(0, 1000)...)
	d.awaitWindows(1000)
	d.stop()
	if n := b.open(); n != 0 {
		t.Errorf("%d messages open, want none", n)
	}
}

func TestStartsThatCannotReadFromNATS(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, func(o *server.Options) { o.Username, o.Password = "u", "right-secret" })
	gone := natstest.Start(t, nil)
	gone.Down()
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	here, away := "nats://"+s.Target("events.>"), "nats://"+gone.Target("events.>")
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"snapshot without a state database", []string{"--input", away, "--nats-ack-mode", "snapshot"}, "snapshot needs a state database (--state-db)"},
		{"an unknown mode", []string{"--input", away, "--nats-ack-mode", "later"}, "later"},
		{"a replay of standard input", []string{"--input", "stdin", "--replay-from-latest"}, "need an input that replays"},
		{"a time that is none", []string{"--input", away, "--replay-from-time", "noon"}, "Invalid --replay-from-time 'noon'"},
		{"sequence 0", []string{"--input", away, "--replay-from-sequence", "0"}, "--replay-from-sequence"},
		{"two replays", []string{"--input", away, "--replay-from-latest", "--replay-from-sequence", "1"}, "excludes"},
		{"keeping and clearing", []string{"--input", away, "--keep-state", "--clear-state"}, "excludes"},
		{"a server that is away", []string{"--input", away}, "connect to nats://127.0.0.1:"},
		{"a wrong login", []string{"--input", here, "--nats-user", "u", "--nats-password", "wrong-secret"}, "Authorization Violation"},
		{"a credentials file that is missing", []string{"--input", here, "--nats-creds", "/no.creds"}, "--nats-creds: open /no.creds: no such file or directory"},
		{"TLS where there is none", []string{"--input", here, "--nats-require-tls"}, "the server has no TLS"},
		{"a replay from behind the end", []string{"--input", here, "--nats-user", "u", "--nats-password", "right-secret", "--replay-from-sequence", "62"}, "--replay-from-sequence 62: the stream ends at 0"},
		{"an unknown parameter", []string{"--input", away + "?fromat=json"}, "unknown parameter 'fromat'"},
		{"two inputs that share a consumer", []string{"--input", away, "--input", "nats://" + gone.Target("events.*")}, "reads with consumer sluice-daemon-events, as input"},
		{"a group that is no name", []string{"--input", away, "--consumer-group", "a.b"}, "names a consumer"},
	} {
		got := sluice(t, "", append([]string{"engine", "daemon", "-r", dir + "/rules", "--api-addr", "127.0.0.1:0"}, tc.args...)...)
		if got.code != 3 || !strings.Contains(got.stderr, tc.want) || strings.Contains(got.stderr, "secret") {
			t.Errorf("%s: exit code %d, want 3 and %q:\n%s", tc.name, got.code, tc.want, got.stderr)
		}
	}
}

// The daemon goes on when stream or consumer vanish, and shows it.
func TestAStreamThatVanishesDoesNotEndTheDaemon(t *testing.T) {
	t.Parallel()
	b := newBus(t, jetstream.ConsumerConfig{})
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	d := start(t, "-r", dir+"/rules", "--input", b.target, "--consumer-group", durable)
	b.publish(event("evil 1"))
	d.await("a result", func() bool { return len(d.stdout.lines()) == 1 })
	if err := b.js.DeleteStream(t.Context(), "EVENTS"); err != nil {
		t.Fatal(err)
	}
	d.awaitLog("receiving failed")
	d.await("a stream", func() bool {
		_, err := b.js.Publish(context.Background(), "events.a", []byte(event("evil 2")))
		return err == nil
	})
	d.await("another result", func() bool { return len(d.stdout.lines()) == 2 })
	if n := d.metric("svc_nats_receive_errors_total"); n < 1 {
		t.Errorf("%v receive errors, want some", n)
	}
	if got := d.get("/readyz"); got.status != 200 {
		t.Errorf("readiness %d, want 200", got.status)
	}
	d.stop()
}

// The command of the page reads what is published to its subjects.
func TestTheCommandOnThePageOfNATS(t *testing.T) {
	t.Parallel()
	b := newBus(t, jetstream.ConsumerConfig{AckWait: patience})
	r := newReader(t)
	ran := 0
	for _, f := range fences(t, "docs/inputs.md") {
		if f.info != "sh nats" {
			continue
		}
		ran++
		script := strings.NewReplacer("nats://nats.example.com:4222/events.>", b.target, documented, "127.0.0.1:0").Replace(f.text)
		d := launchCommand(t, r.dir, exec.Command("sh", "-c", "exec "+script))
		b.publish(`{"User":"root","CommandLine":"vssadmin delete shadows","Image":"C:\\vssadmin.exe"}`)
		d.results(1)
		d.await("the acknowledgement", func() bool { return b.open() == 0 })
		d.stop()
	}
	if ran != 1 {
		t.Errorf("%d commands were run, want one", ran)
	}
}
