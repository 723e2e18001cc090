package acceptance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
)

// apache is a client of a broker of Apache Kafka, beside which .ci/kafka runs the tests.
func apache(t *testing.T) (broker string, cl *kgo.Client) {
	t.Helper()
	broker = os.Getenv("SLUICE_KAFKA")
	if broker == "" {
		t.Skip("SLUICE_KAFKA names no broker: .ci/kafka go test ./cmd/sluice/acceptance -run ApacheKafka")
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return broker, cl
}

// create makes topics with so many partitions.
func create(t *testing.T, cl *kgo.Client, partitions int32, names ...string) {
	t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	for _, name := range names {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(t.Context(), cl)
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range resp.Topics {
		if err := kerr.ErrorForCode(topic.ErrorCode); err != nil {
			t.Fatalf("topic %s: %v", topic.Topic, err)
		}
	}
}

func committedAt(t *testing.T, cl *kgo.Client, group, topic string, partition int32) int64 {
	t.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = group
	of := kmsg.NewOffsetFetchRequestTopic()
	of.Topic, of.Partitions = topic, []int32{partition}
	req.Topics = []kmsg.OffsetFetchRequestTopic{of}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	resp, err := req.RequestWith(ctx, cl)
	if err != nil || len(resp.Topics) == 0 {
		return -1
	}
	return resp.Topics[0].Partitions[0].Offset
}

// Every way to log in over TLS: messages become results, and offsets are committed.
func TestApacheKafkaOverTLSWithEveryLogin(t *testing.T) {
	_, cl := apache(t)
	secure, root := os.Getenv("SLUICE_KAFKA_TLS"), os.Getenv("SLUICE_KAFKA_CA")
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	const password = "secret-of-the-test"
	for _, mechanism := range []string{"plain", "scram-sha-256", "scram-sha-512"} {
		t.Run(mechanism, func(t *testing.T) {
			events, found := "events-"+mechanism, "found-"+mechanism
			create(t, cl, 3, events)
			create(t, cl, 1, found)
			kafkatest.Produce(t, cl, events, 0, []byte(event("evil")), nil, []byte(event("good")))
			kafkatest.Produce(t, cl, events, 2, []byte(event("evil")))
			d := launchWith(t, dir, []string{"KAFKA_USER=sluice", "KAFKA_PASSWORD=" + password},
				"-r", filepath.Join(dir, "rules"), "--kafka-tls-ca", root, "--kafka-sasl", mechanism,
				"--input", "kafka://"+secure+"/"+events, "--output", "kafka://"+secure+"/"+found)
			d.await("the commits", func() bool {
				return committedAt(t, cl, "sluice-"+events, events, 0) == 3 && committedAt(t, cl, "sluice-"+events, events, 2) == 1
			})
			line := resultLine("Evil", "evil")
			if got := kafkatest.Bodies(stored(t, cl, found, 2)); !slices.Equal(got, []string{line, line}) {
				t.Errorf("found %q, want %q twice", got, line)
			}
			d.stop()
			if strings.Contains(d.stderr.String(), password) {
				t.Errorf("the log shows the password:\n%s", d.stderr)
			}
		})
	}
	for _, tc := range []struct{ name, password, target, want string }{
		{"a wrong password", "wrong-secret", "events-plain", "(--kafka-user, --kafka-password and --kafka-sasl log in)"},
		{"no such topic", password, "evnts", "topic evnts does not exist: create it, or mend the name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := command(t, "engine", "daemon", "-r", filepath.Join(dir, "rules"), "--api-addr", "127.0.0.1:0", "--kafka-tls-ca", root, "--input", "kafka://"+secure+"/"+tc.target)
			cmd.Env = append(cmd.Env, "KAFKA_USER=sluice", "KAFKA_PASSWORD="+tc.password)
			if got := finish(t, cmd, ""); got.code != 3 || !strings.Contains(got.stderr, tc.want) || strings.Contains(got.stderr, tc.password) {
				t.Errorf("exit code %d, want 3 and %q:\n%s", got.code, tc.want, got.stderr)
			}
		})
	}
}

// Two daemons share the partitions of a topic, and one takes over from the other.
func TestMembersOfAGroupOfApacheKafka(t *testing.T) {
	broker, cl := apache(t)
	create(t, cl, 4, "shared")
	create(t, cl, 1, "shared-found")
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	run := func() *daemon {
		return launchIn(t, dir, "-r", filepath.Join(dir, "rules"), "--input", "kafka://"+broker+"/shared", "--output", "kafka://"+broker+"/shared-found")
	}
	partitions := func(d *daemon) (n int) {
		for p := range 4 {
			if _, ok := d.findMetric(fmt.Sprintf(`svc_kafka_lag{partition="%d",topic="shared"}`, p)); ok {
				n++
			}
		}
		return n
	}
	a := run()
	a.await("all partitions", func() bool { return partitions(a) == 4 })
	b := run()
	a.await("half of the partitions", func() bool { return partitions(a) == 2 && partitions(b) == 2 })
	for p := range int32(4) {
		kafkatest.Produce(t, cl, "shared", p, []byte(event("evil")), []byte(event("evil")))
	}
	if got := stored(t, cl, "shared-found", 8); len(got) != 8 {
		t.Errorf("%d results, want 8", len(got))
	}
	b.stop()
	a.await("all partitions again", func() bool { return partitions(a) == 4 })
	kafkatest.Produce(t, cl, "shared", 3, []byte(event("evil")))
	stored(t, cl, "shared-found", 9)
	a.stop()
}

func TestAKilledDaemonMissesNothingOfApacheKafka(t *testing.T) {
	broker, cl := apache(t)
	create(t, cl, 3, "killed")
	create(t, cl, 1, "killed-found")
	killing(t, broker+"/killed", broker+"/killed-found", "snapshot", cl, nil)
}
