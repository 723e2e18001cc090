package acceptance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	natsio "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

// kills are how often daemons are killed. SLUICE_KILLS says it.
func kills(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("SLUICE_KILLS"))
	if err != nil {
		return 6
	}
	return n
}

// perLife are the messages that are published in a life of a daemon.
const perLife = 60

// A daemon is killed at random moments, some of them just behind a save, and so is the
// server, while messages go on to a file, a webhook and another stream. No result is
// missing. One that comes twice belongs to a message that was delivered twice, and the
// stream at the end has none twice. In mode snapshot the correlations say what they say
// when nothing happens.
func TestNothingIsLostHoweverOftenDaemonAndServerAreKilled(t *testing.T) {
	t.Parallel()
	lives := kills(t)/2 + 1
	want := kill(t, "delivered", lives*perLife, 0, rand.New(rand.NewPCG(0, 0))).correlations()
	for i, mode := range []string{"delivered", "snapshot"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(i)))
			kill(t, mode, lives*perLife, lives-1, random).judge(t, mode, lives*perLife, want)
		})
	}
}

// kill has daemons read so many messages, of which some are killed, and the server with
// every fifth.
func kill(t *testing.T, mode string, messages, deaths int, random *rand.Rand) *aftermath {
	t.Helper()
	all := &aftermath{results: map[string][]string{"webhook": nil}, once: "stream", unsettled: make(map[int]int)}
	p := natstest.StartProcess(t)
	connect := func() (*natsio.Conn, error) {
		return natsio.Connect("nats://"+p.Addr, natsio.MaxReconnects(-1), natstest.Patient)
	}
	nc, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	b := busOn(t, nc, p.Addr, jetstream.ConsumerConfig{AckWait: time.Second, MaxAckPending: 200})
	if _, err := b.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "FOUND", Subjects: []string{"found"}, Duplicates: time.Hour}); err != nil {
		t.Fatal(err)
	}
	h := newHook(t)
	dir := t.TempDir()
	rules := write(t, dir, "rules.yml", countingRules)
	hook := write(t, dir, "hook.yml", fmt.Sprintf("webhooks:\n  - {id: h, kind: detection, url: %q, body: '{\"value\": ${detection.fields.C}}', retry: {backoff: 10ms}}\n", h.URL))
	published, pace := 0, rand.New(rand.NewPCG(1, 2))
	publish := func(upTo int) {
		for published < upTo {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			_, err := b.js.Publish(ctx, "events.a", []byte(numbered(published)), jetstream.WithMsgID(fmt.Sprint(published)))
			cancel()
			time.Sleep(time.Duration(pace.IntN(15)) * time.Millisecond) // a stream, not a heap
			if err == nil {                                             // else the server is away, and perhaps has it already
				published++
			}
		}
	}
	life := func() *daemon {
		return start(t, "-r", rules, "--input", b.target+"?format=json", "--state-db", dir+"/state", "--state-save-interval", "1", "--nats-ack-mode", mode,
			"--output", "file://"+dir+"/out", "--output", "nats://"+p.Addr+"/found", "--webhook", hook, "--dlq", "file://"+dir+"/dead",
			"--sink-retry-max", "100000", "--sink-backoff-max-ms", "200", "--log-level", "debug")
	}
	for n := range deaths {
		d := life()
		done := make(chan struct{})
		go func() {
			defer close(done)
			publish((n + 1) * perLife)
		}()
		switch n % 3 {
		case 2: // between the commit of a save and its acknowledgements, or soon after
			saves := strings.Count(d.stderr.String(), `"state saved"`)
			d.await("a save", func() bool { return strings.Count(d.stderr.String(), `"state saved"`) > saves })
		default:
			time.Sleep(time.Duration(random.IntN(1200)) * time.Millisecond)
		}
		if n%5 == 1 {
			p.Kill()
			time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
			if n%2 == 0 { // the daemon sees it come back
				p.Up()
				time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
				d.kill()
			} else {
				d.kill()
				p.Up()
			}
		} else {
			d.kill()
		}
		<-done
		for sequence := int(b.consumer().AckFloor.Stream) + 1; sequence <= published; sequence++ {
			all.unsettled[sequence-1]++
		}
	}
	d := life()
	publish(messages)
	d.await("everything ended", func() bool {
		n, _ := d.windows()
		c := b.consumer()
		earlier := c.AckFloor.Stream >= uint64(deaths*perLife) // what a save of an earlier life covers comes again once its wait is over
		return c.NumPending == 0 && (mode == "delivered" && b.open() == 0 || mode == "snapshot" && n >= messages && earlier)
	})
	all.count, all.distinct = d.windows()
	d.stop()
	if n := b.open(); n != 0 {
		t.Errorf("%d messages are not acknowledged at the end", n)
	}
	if log := d.stderr.String(); strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("the last daemon complains:\n%s", log)
	}
	if dead := output(filepath.Join(dir, "dead")).lines(); len(dead) > 0 {
		t.Errorf("%d dead letters, the first: %s", len(dead), dead[0])
	}
	all.results["file"] = output(filepath.Join(dir, "out")).lines()
	for _, body := range h.all() {
		_, rest, _ := strings.Cut(body, `{"value": "`)
		value, _, _ := strings.Cut(rest, `"`)
		all.results["webhook"] = append(all.results["webhook"], resultLine("Base", value))
	}
	all.results["stream"] = natstest.Bodies(natstest.Messages(t, b.js, "FOUND"))
	return all
}
