package acceptance

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
)

// Messages of a topic become results in another, and dead letters in a third, over TLS and
// with a login; their offsets are committed, and nothing shows the password.
func TestMessagesOfKafkaBecomeResults(t *testing.T) {
	ca := certstest.New(t, "brokers")
	c := kafkatest.Start(t, kfake.SeedTopics(1, "found", "dead"), kfake.SeedTopics(3, "events"),
		kfake.TLS(&tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{ca.Pair("broker", time.Hour)}}),
		kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "u", hush+"password"))
	client := kafkaClient(t, c, ca)
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	d := launchWith(t, dir, []string{"KAFKA_USER=u", "KAFKA_PASSWORD=" + hush + "password"},
		"-r", filepath.Join(dir, "rules"), "--kafka-tls-ca", ca.File,
		"--input", "kafka://"+c.Target("events")+"?format=json&group=detection",
		"--output", "kafka://"+c.Target("found"), "--dlq", "kafka://"+c.Target("dead"))
	kafkatest.Produce(t, client, "events", 0, []byte(event("evil")), []byte(event("good")), nil, []byte("no event"))
	kafkatest.Produce(t, client, "events", 2, []byte(event("evil")+event("evil")))
	d.await("the commit of everything", func() bool {
		return c.Committed("detection", "events", 0) == 4 && c.Committed("detection", "events", 2) == 1
	})
	line := resultLine("Evil", "evil")
	found := stored(t, client, "found", 3)
	if got := kafkatest.Bodies(found); !slices.Equal(got, []string{line, line, line}) {
		t.Errorf("found %q, want %q three times", got, line)
	}
	ids := make(map[string]bool)
	for _, r := range found {
		headers := make(map[string]string)
		for _, h := range r.Headers {
			headers[h.Key] = string(h.Value)
		}
		if headers["sluice-kind"] != "detection" || !strings.HasPrefix(headers["sluice-id"], "events/") || r.Key != nil {
			t.Errorf("headers %v and key %q, want kind, id and no key", headers, r.Key)
		}
		ids[headers["sluice-id"]] = true
	}
	if len(ids) != 3 {
		t.Errorf("ids %v, want three", ids)
	}
	if dead := kafkatest.Bodies(stored(t, client, "dead", 1)); !strings.HasPrefix(dead[0], `{"original_event":"no event","error":"parse error"`) {
		t.Errorf("dead letter %q, want that of the line that is no event", dead)
	}
	for series, want := range map[string]float64{
		`svc_kafka_lag{partition="0",topic="events"}`: 0, `svc_kafka_lag{partition="1",topic="events"}`: 0, `svc_kafka_lag{partition="2",topic="events"}`: 0,
		"svc_kafka_pending_messages": 0, "svc_kafka_covered_redeliveries_total": 0, "svc_kafka_rebalances_total": 1, `svc_kafka_commits_total{result="failed"}`: 0,
	} {
		if got, ok := d.findMetric(series); !ok || got != want {
			t.Errorf("%s is %v (%t), want %v", series, got, ok, want)
		}
	}
	d.stop()
	wantNoSecret(t, "the log", d.stderr.String())
}

func TestTheStatusSaysWhetherABrokerIsThere(t *testing.T) {
	p := kafkatest.StartProcess(t, "events=1")
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	input := "kafka://" + p.Target("events")
	d := launch(t, "-r", filepath.Join(dir, "rules"), "--input", input)
	standing := func() map[string]any {
		all, _ := d.get("/api/v1/status").json(t)["inputs"].([]any)
		if len(all) != 1 {
			return nil // it starts
		}
		return all[0].(map[string]any)
	}
	want := func(what string, connected bool, disconnected float64) {
		t.Helper()
		d.await(what, func() bool { return standing()["connected"] == connected })
		if got := d.metric("svc_kafka_disconnected_inputs"); got != disconnected {
			t.Errorf("%s: %v inputs have no connection, want %v", what, got, disconnected)
		}
	}
	want("a broker that is there", true, 0)
	p.Kill()
	want("a broker that is away", false, 1)
	if got := standing(); got["input"] != input || got["since"] == nil || got["last_error"] == nil {
		t.Errorf("the status says %v, want the input %s, since when, and why", got, input)
	}
	p.Up()
	want("a broker that is back", true, 0)
	d.stop()
}

// The group of an input is that of the flag, unless the input names one.
func TestTheGroupOfAKafkaInput(t *testing.T) {
	for _, tc := range []struct{ name, parameters, want string }{
		{"the flag", "", "fleet"},
		{"the input", "?group=own", "own"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := kafkatest.Start(t, kfake.SeedTopics(1, "events"))
			dir := t.TempDir()
			d := launchIn(t, dir, "-r", write(t, dir, "rules/a.yml", rule("Evil", "evil")),
				"--consumer-group", "fleet", "--input", "kafka://"+c.Target("events")+tc.parameters)
			c.Produce("events", 0, []byte(event("good")))
			d.await("the commit", func() bool { return c.Committed(tc.want, "events", 0) == 1 })
			d.stop()
		})
	}
}

// kafkaClient is a client of the test that logs in.
func kafkaClient(t *testing.T, c *kafkatest.Cluster, ca *certstest.Authority) *kgo.Client {
	t.Helper()
	secure := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: ca.Pool}}
	cl := c.Client(kafkatest.Login("u", hush+"password"), kgo.Dialer(secure.DialContext), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	t.Cleanup(cl.Close)
	return cl
}

// stored waits for so many records of a topic with one partition.
func stored(t *testing.T, cl *kgo.Client, topic string, n int) (all []*kgo.Record) {
	t.Helper()
	cl.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}})
	defer cl.RemoveConsumePartitions(map[string][]int32{topic: {0}})
	for len(all) < n {
		fetches := cl.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		all = append(all, fetches.Records()...)
	}
	return all
}

func TestAStartWithoutKafkaSaysWhy(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	l.Close()
	ca := certstest.New(t, "brokers")
	open := kafkatest.Start(t, kfake.SeedTopics(1, "events"))
	locked := kafkatest.Start(t, kfake.SeedTopics(1, "events"), kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "u", hush+"right"))
	secure := kafkatest.Start(t, kfake.SeedTopics(1, "events"), kfake.TLS(&tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{ca.Pair("broker", time.Hour)}}))
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	for _, tc := range []struct {
		name, target string
		args         []string
		want         string
	}{
		{"nobody listens", nobody + "/events", nil, "connect: connection refused"},
		{"no such topic", open.Target("evnts"), nil, "topic evnts does not exist: create it, or mend the name"},
		{"a wrong password", locked.Target("events"), []string{"--kafka-user", "u", "--kafka-password", hush + "wrong"}, "(--kafka-user, --kafka-password and --kafka-sasl"},
		{"another mechanism", locked.Target("events"), []string{"--kafka-user", "u", "--kafka-password", hush + "right", "--kafka-sasl", "plain"}, "(--kafka-user, --kafka-password and --kafka-sasl"},
		{"no login", locked.Target("events"), nil, "or another login (--kafka-user, --kafka-password and --kafka-sasl)"},
		{"no TLS where it is spoken", secure.Target("events"), nil, "it may demand TLS (--kafka-tls)"},
		{"TLS where it is not spoken", open.Target("events"), []string{"--kafka-tls"}, "does the broker speak TLS on this port (--kafka-tls)?"},
		{"an authority that nobody named", secure.Target("events"), []string{"--kafka-tls"}, "(--kafka-tls-ca names further roots)"},
		{"roots that are not there", open.Target("events"), []string{"--kafka-tls-ca", "none.pem"}, "--kafka-tls-ca"},
	} {
		for flag, args := range map[string][]string{
			"--input":  {"--input", "kafka://" + tc.target},
			"--output": {"--input", "http", "--output", "kafka://" + tc.target},
		} {
			t.Run(tc.name+" of "+flag, func(t *testing.T) {
				t.Parallel()
				args := slices.Concat([]string{"engine", "daemon", "-r", filepath.Join(dir, "rules"), "--api-addr", "127.0.0.1:0"}, args, tc.args)
				got := sluice(t, "", args...)
				if got.code != 3 || !strings.Contains(got.stderr, tc.want) {
					t.Errorf("exit code %d, want 3 and %q:\n%s", got.code, tc.want, got.stderr)
				}
				wantNoSecret(t, "the message", got.stderr)
			})
		}
	}
	for _, tc := range []struct{ name, input, want string }{
		{"snapshot without a database", "kafka://" + open.Target("events") + "?ack=snapshot", "ack=snapshot needs a state database (--state-db)"},
		{"an unknown parameter", "kafka://" + open.Target("events") + "?akc=snapshot", "unknown parameter 'akc', not one of format, group, instance, ack, start, pending (did you mean 'ack'?)"},
		{"a login in the URL", "kafka://u:" + hush + "x@" + open.Target("events"), "a Kafka URL holds no credentials (--kafka-user and --kafka-password give them)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := sluice(t, "", "engine", "daemon", "-r", filepath.Join(dir, "rules"), "--api-addr", "127.0.0.1:0", "--input", tc.input)
			if got.code != 3 || !strings.Contains(got.stderr, tc.want) {
				t.Errorf("exit code %d, want 3 and %q:\n%s", got.code, tc.want, got.stderr)
			}
			wantNoSecret(t, "the message", got.stderr)
		})
	}
}

// A daemon that is killed at random moments, while brokers go and come back, misses no
// result. With snapshots its correlations are those of a daemon that nobody disturbed.
func TestAKilledDaemonMissesNothingOfKafka(t *testing.T) {
	for _, ack := range []string{"delivered", "snapshot"} {
		t.Run(ack, func(t *testing.T) {
			c := kafkatest.Start(t, kfake.SeedTopics(1, "found"), kfake.SeedTopics(3, "events"), kfake.GroupMinSessionTimeout(time.Second))
			killing(t, c.Target("events"), c.Target("found"), ack, c.Client(kgo.RecordPartitioner(kgo.ManualPartitioner())), c)
		})
	}
}

// The command of the page reads one topic and writes another.
func TestTheCommandOnThePageOfKafka(t *testing.T) {
	c := kafkatest.Start(t, kfake.SeedTopics(1, "events", "findings"))
	r := newReader(t)
	ran := 0
	for _, f := range fences(t, "docs/inputs.md") {
		if f.info != "sh kafka" {
			continue
		}
		ran++
		script := strings.NewReplacer("kafka1:9092,kafka2:9092", c.Broker(), documented, "127.0.0.1:0").Replace(f.text)
		d := launchCommand(t, r.dir, exec.Command("sh", "-c", "exec "+script))
		c.Produce("events", 0, []byte(`{"User":"root","CommandLine":"vssadmin delete shadows","Image":"C:\\vssadmin.exe"}`))
		d.await("the finding", func() bool { return len(c.Stored("findings")) == 1 })
		d.stop()
		if at := c.Committed("sluice-events", "events", 0); at != 1 {
			t.Errorf("offset %d is committed at the end, want 1", at)
		}
	}
	if ran != 1 {
		t.Errorf("%d commands were run, want one", ran)
	}
}

// users and each are the groups of the correlation in killing, and their events.
const (
	users = 6
	each  = 300
)

// killing runs daemons on a topic with three partitions and kills them until each event
// has ended. Brokers are restarted, too, unless there is no cluster.
func killing(t *testing.T, events, found, ack string, client *kgo.Client, c *kafkatest.Cluster) {
	t.Helper()
	defer client.Close()
	dir := t.TempDir()
	rules := write(t, dir, "rules/a.yml", burst(3))
	topic := events[strings.LastIndexByte(events, '/')+1:]
	produced := make(chan struct{})
	go func() {
		defer close(produced)
		for i := range each {
			for u := range users {
				text := fmt.Sprintf(`{"C":"evil","U":"u%d","N":%d}`, u, i)
				client.Produce(t.Context(), &kgo.Record{Topic: topic, Partition: int32(u % 3), Value: []byte(text)}, nil)
			}
			if i%3 == 0 {
				time.Sleep(5 * time.Millisecond) // the events shall come while daemons come and go
			}
		}
	}()
	run := func() *daemon {
		t.Helper()
		return launchIn(t, dir, "-r", rules, "--state-db", filepath.Join(dir, "state"), "--state-save-interval", "1",
			"--include-event", "--input", "kafka://"+events+"?format=json&instance=one&pending=200&ack="+ack, "--output", "kafka://"+found)
	}
	for round := range kills(t) {
		d := run()
		pause := time.Duration(rand.IntN(600)) * time.Millisecond
		if c != nil && round%4 == 3 {
			d.awaitLog("source started") // a start without brokers is refused
			time.Sleep(pause / 2)
			c.Down()
			time.Sleep(pause / 4)
			c.Up()
		}
		time.Sleep(pause) // the moment of the kill is what the test is about
		d.kill()
	}
	<-produced
	d := run()
	d.await("the end of what was produced", func() bool {
		lag, known := 0.0, 0
		for p := range 3 {
			n, ok := d.findMetric(fmt.Sprintf(`svc_kafka_lag{partition="%d",topic=%q}`, p, topic))
			if ok {
				known++
			}
			lag += n
		}
		return known == 3 && lag == 0 && d.metric("svc_kafka_pending_messages") == 0
	})
	d.stop()
	hits, fired := results(t, client, found[strings.LastIndexByte(found, '/')+1:])
	for u := range users {
		user := fmt.Sprint("u", u)
		for i := range each {
			if hits[fmt.Sprint(user, " ", i)] == 0 {
				t.Errorf("event %d of %s has no result", i, user)
			}
		}
		if ack == "delivered" {
			continue // windows miss what ended behind the last save
		}
		for value := range each + 2 {
			if want := value >= 3 && value <= each; (fired[fmt.Sprint(user, " ", value)] > 0) != want {
				t.Errorf("the correlation of %s fired with %d events: %t, want %t", user, value, !want, want)
			}
		}
	}
}

// results counts detections by user and number, and correlations by user and value.
func results(t *testing.T, client *kgo.Client, topic string) (hits, fired map[string]int) {
	t.Helper()
	hits, fired = make(map[string]int), make(map[string]int)
	ends, err := kafkatest.End(t.Context(), client, topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range stored(t, client, topic, int(ends)) {
		var result struct {
			RuleTitle       string            `json:"rule_title"`
			AggregatedValue float64           `json:"aggregated_value"`
			GroupKey        json.RawMessage   `json:"group_key"`
			Event           map[string]any    `json:"event"`
			Keys            map[string]string `json:"-"`
		}
		if err := json.Unmarshal(r.Value, &result); err != nil {
			t.Fatalf("%v: %s", err, r.Value)
		}
		if result.RuleTitle == "Burst" {
			for u := range users {
				if strings.Contains(string(result.GroupKey), fmt.Sprintf(`"u%d"`, u)) {
					fired[fmt.Sprintf("u%d %v", u, result.AggregatedValue)]++
				}
			}
			continue
		}
		hits[fmt.Sprint(result.Event["U"], " ", result.Event["N"])]++
	}
	return hits, fired
}
