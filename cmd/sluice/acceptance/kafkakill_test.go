package acceptance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
)

// A daemon is killed at random moments, some of them just behind a save, and so is the
// broker, while messages go from a topic to a file and another topic. No result is missing.
// One that comes twice belongs to a message whose offset was not committed at a kill. In mode
// snapshot the correlations say what they say when nothing happens.
func TestNothingIsLostHoweverOftenDaemonAndBrokerAreKilled(t *testing.T) {
	t.Parallel()
	lives := kills(t)/2 + 1
	want := killOnKafka(t, "delivered", lives*perLife, 0, rand.New(rand.NewPCG(0, 0))).correlations()
	for i, mode := range []string{"delivered", "snapshot"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(i)))
			killOnKafka(t, mode, lives*perLife, lives-1, random).judge(t, mode, lives*perLife, want)
		})
	}
}

// numberedTopic is a topic of numbered events. Those of a group lie in one partition.
type numberedTopic struct {
	t      *testing.T
	broker *kafkatest.Process

	mu        sync.Mutex // held while the broker is away
	client    *kgo.Client
	published int
}

const numberedPartitions = 2

func (n *numberedTopic) connect() {
	n.t.Helper()
	if n.client != nil {
		n.client.Close()
	}
	var err error
	if n.client, err = kgo.NewClient(kgo.SeedBrokers(n.broker.Addr), kgo.RecordPartitioner(kgo.ManualPartitioner())); err != nil {
		n.t.Fatal(err)
	}
}

// publish appends events up to a number, which come as a stream, not as a heap.
func (n *numberedTopic) publish(upTo int, pace *rand.Rand) {
	one := func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.published >= upTo {
			return false
		}
		record := &kgo.Record{Topic: "events", Partition: int32(n.published % numberedPartitions), Value: []byte(numbered(n.published))}
		if err := n.client.ProduceSync(context.Background(), record).FirstErr(); err != nil {
			n.t.Error(err)
			return false
		}
		n.published++
		return true
	}
	for one() {
		time.Sleep(time.Duration(pace.IntN(15)) * time.Millisecond)
	}
}

// committed is where the group stands in the partitions, none of it less than 0.
func (n *numberedTopic) committed() (at [numberedPartitions]int) {
	for p := range at {
		at[p] = max(0, int(committedAt(n.t, n.client, "sluice-events", "events", int32(p))))
	}
	return at
}

// unsettled counts the messages that are not committed. The caller holds the lock.
func (n *numberedTopic) unsettled(times map[int]int) {
	at := n.committed()
	for i := range n.published {
		if i/numberedPartitions >= at[i%numberedPartitions] {
			times[i]++
		}
	}
}

// killOnKafka has daemons read so many messages, of which some are killed, and the broker
// with every fifth.
func killOnKafka(t *testing.T, mode string, messages, deaths int, random *rand.Rand) *aftermath {
	t.Helper()
	all := &aftermath{results: make(map[string][]string), unsettled: make(map[int]int)}
	p := kafkatest.StartProcess(t, fmt.Sprint("events=", numberedPartitions), "found=1")
	topic := &numberedTopic{t: t, broker: p}
	topic.connect()
	defer func() { topic.client.Close() }()
	dir := t.TempDir()
	rules := write(t, dir, "rules.yml", countingRules)
	life := func() *daemon {
		return start(t, "-r", rules, "--input", "kafka://"+p.Target("events")+"?format=json&instance=one&pending=200&ack="+mode,
			"--state-db", dir+"/state", "--state-save-interval", "1", "--output", "file://"+dir+"/out", "--output", "kafka://"+p.Target("found"),
			"--dlq", "file://"+dir+"/dead", "--sink-retry-max", "100000", "--sink-backoff-max-ms", "200", "--log-level", "debug")
	}
	pace := rand.New(rand.NewPCG(1, 2))
	for n := range deaths {
		d := life()
		done := make(chan struct{})
		go func() {
			defer close(done)
			topic.publish((n+1)*perLife, pace)
		}()
		switch n % 3 {
		case 2: // between the commit of a save and that of the offsets, or soon after
			saves := strings.Count(d.stderr.String(), `"state saved"`)
			d.await("a save", func() bool { return strings.Count(d.stderr.String(), `"state saved"`) > saves })
		default:
			time.Sleep(time.Duration(random.IntN(1200)) * time.Millisecond)
		}
		topic.mu.Lock()
		if n%5 == 1 {
			seen := n%2 == 0 // the daemon sees the broker come back
			if seen {
				topic.unsettled(all.unsettled)
			}
			p.Kill()
			time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
			if !seen {
				d.kill()
			}
			p.Up()
			topic.connect()
			if seen {
				topic.mu.Unlock()
				time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
				topic.mu.Lock()
				d.kill()
			}
		} else {
			d.kill()
		}
		topic.unsettled(all.unsettled)
		topic.mu.Unlock()
		<-done
	}
	d := life()
	topic.publish(messages, pace)
	d.await("everything ended", func() bool {
		ended := 0
		for _, at := range topic.committed() {
			ended += at
		}
		return ended == messages
	})
	all.count, all.distinct = d.windows()
	d.stop()
	if log := d.stderr.String(); strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("the last daemon complains:\n%s", log)
	}
	if dead := output(filepath.Join(dir, "dead")).lines(); len(dead) > 0 {
		t.Errorf("%d dead letters, the first: %s", len(dead), dead[0])
	}
	all.results["file"] = output(filepath.Join(dir, "out")).lines()
	ends, err := kafkatest.End(t.Context(), topic.client, "found")
	if err != nil {
		t.Fatal(err)
	}
	all.results["topic"] = kafkatest.Bodies(stored(t, topic.client, "found", int(ends)))
	return all
}
