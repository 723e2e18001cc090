package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

// everyKind are lines of which some are found, some are no events, and some are too long.
func everyKind(n int) (lines [][]byte) {
	random := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		word := []string{"evil", "good", "worse"}[random.IntN(3)]
		line := fmt.Sprintf(`{"@timestamp":"2024-07-10T12:%02d:%02dZ","C":"%s %d","U":"u%d","x":"%s"}`, i/60%60, i%60, word, i, random.IntN(5), strings.Repeat("x", random.IntN(3000)))
		switch random.IntN(200) {
		case 0:
			line = fmt.Sprintf("no event %d", i)
		case 1:
			line = fmt.Sprintf(`{"C":"evil %d", `, i)
		case 2:
			line = fmt.Sprintf(`{"C":"evil %d","x":"%s"}`, i, strings.Repeat("y", 2<<20))
		}
		lines = append(lines, []byte(line))
	}
	return lines
}

// keepingRules keep events in results, in windows and in what these find.
const keepingRules = `title: Evil
id: id-Evil
level: high
detection: {sel: {C|contains: evil}, condition: sel}
---
title: Worse
id: id-Worse
detection: {sel: {C|contains: worse}, condition: sel}
---
title: Count
id: id-count
correlation: {type: event_count, rules: [id-Evil], group-by: [U], timespan: 10m, condition: {gte: 7}, generate: true}
---
title: Order
id: id-order
correlation: {type: temporal_ordered, rules: [id-Evil, id-Worse], group-by: [U], timespan: 2m, generate: true}
`

// deadOriginals are the texts of dead letters.
func deadOriginals(t *testing.T, lines []string) (all []string) {
	t.Helper()
	for _, line := range lines {
		var l struct {
			Original string `json:"original_event"`
			Error    string
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("dead letter %s: %v", line, err)
		}
		all = append(all, l.Error+": "+l.Original)
	}
	slices.Sort(all)
	return all
}

// Whether a line comes over standard input, or as a message of Kafka or NATS, what is made of
// it is the same, byte for byte: results with events, windows that keep events, and dead letters.
func TestMessagesAreJudgedLikeLines(t *testing.T) {
	t.Run("lines of every kind", func(t *testing.T) {
		dir := t.TempDir()
		n := 6000
		if len(buildFlags) > 0 {
			n = 1000
		}
		messagesAreJudgedLikeLines(t, everyKind(n), write(t, dir, "rules.yml", keepingRules))
	})
	t.Run("the corpus", func(t *testing.T) {
		if len(buildFlags) > 0 {
			t.Skip("loading the rules three times takes long under the race detector")
		}
		rules := sigmatest.RuleDir(t, "rules")
		messagesAreJudgedLikeLines(t, sigmatest.Lane(t, sigmatest.Telemetry), rules)
	})
}

func messagesAreJudgedLikeLines(t *testing.T, lines [][]byte, rules string) {
	t.Helper()
	flags := []string{"-r", rules, "--include-event", "--correlation-event-mode", "full", "--drain-timeout", "500"}
	dir := t.TempDir()
	want := pipe(t, bytes.Join(lines, []byte("\n")), append([]string{"engine", "daemon", "--api-addr", "127.0.0.1:0", "--dlq", "file://" + filepath.Join(dir, "stdin.dead")}, flags...)...)
	dead := deadOriginals(t, output(filepath.Join(dir, "stdin.dead")).lines())

	if len(want) == 0 {
		t.Fatal("no results, which compares nothing")
	}
	compare := func(name string, d *daemon, letters string) {
		t.Helper()
		d.stop()
		got := d.stdout.String()
		if got != string(want) {
			a, b := wholeLines(got), wholeLines(string(want))
			i := 0
			for i < len(a) && i < len(b) && a[i] == b[i] {
				i++
			}
			t.Errorf("%s: %d results, want %d; number %d is\n%.300q, want\n%.300q", name, len(a), len(b), i, a[min(i, len(a)-1)], b[min(i, len(b)-1)])
		}
		if got := deadOriginals(t, output(letters).lines()); !slices.Equal(got, dead) {
			t.Errorf("%s: %d dead letters, want %d, or others: %.300q", name, len(got), len(dead), got)
		}
	}

	c := kafkatest.Start(t, kfake.SeedTopics(1, "events"), kfake.BrokerConfigs(map[string]string{"message.max.bytes": "8000000"}))
	for part := range slices.Chunk(lines, 500) {
		c.Produce("events", 0, part...)
	}
	letters := filepath.Join(dir, "kafka.dead")
	d := launchIn(t, dir, append([]string{"--input", "kafka://" + c.Target("events"), "--dlq", "file://" + letters}, flags...)...)
	d.await("the commit of all messages", func() bool { return c.Committed("sluice-events", "events", 0) == int64(len(lines)) })
	compare("Kafka", d, letters)

	s := natstest.Start(t, func(o *server.Options) { o.MaxPayload = 4 << 20 })
	nc, js := s.Client()
	defer nc.Close()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"events.>"}}); err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(lines, 500) {
		for _, line := range part {
			if _, err := js.PublishAsync("events.a", line); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-js.PublishAsyncComplete():
		case <-time.After(patience):
			t.Fatal("messages are not stored")
		}
	}
	letters = filepath.Join(dir, "nats.dead")
	d = launchIn(t, dir, append([]string{"--input", "nats://" + s.Target("events.>"), "--dlq", "file://" + letters}, flags...)...)
	d.await("the acknowledgement of all messages", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		consumer, err := js.Consumer(ctx, "EVENTS", durable)
		if err != nil {
			return false
		}
		i := consumer.CachedInfo()
		return i.AckFloor.Stream == uint64(len(lines)) && i.NumPending == 0
	})
	compare("NATS", d, letters)
}
