// Package kafkatest runs clusters that speak Kafka in tests: in the process, over sockets
// or in memory, where they run in virtual time.
package kafkatest

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
)

// Cluster is one broker with what it stores, which outlives a stop.
type Cluster struct {
	t       *testing.T
	options []kfake.Opt
	net     *kfake.VirtualNetwork // nil with sockets
	port    int

	mu    sync.Mutex // guards the rest
	now   *kfake.Cluster
	conns []net.Conn // in memory
}

// Start starts a cluster on a port of the loopback address.
func Start(t *testing.T, options ...kfake.Opt) *Cluster {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return start(t, &Cluster{t: t, port: port, options: options})
}

// InMemory starts a cluster that Dial alone reaches, so that it runs in virtual time.
func InMemory(t *testing.T, options ...kfake.Opt) *Cluster {
	t.Helper()
	c := &Cluster{t: t, port: 9092, net: new(kfake.VirtualNetwork)}
	c.options = append([]kfake.Opt{kfake.ListenFn(c.net.Listen)}, options...)
	return start(t, c)
}

func start(t *testing.T, c *Cluster) *Cluster {
	t.Helper()
	c.options = append([]kfake.Opt{kfake.Ports(c.port), kfake.DataDir(t.TempDir())}, c.options...)
	c.Up()
	t.Cleanup(c.Down)
	return c
}

// Up starts the cluster where it was before.
func (c *Cluster) Up() {
	c.t.Helper()
	now, err := kfake.NewCluster(c.options...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Down stops the cluster and breaks its connections.
func (c *Cluster) Down() {
	c.mu.Lock()
	now, conns := c.now, c.conns
	c.now, c.conns = nil, nil
	c.mu.Unlock()
	if now != nil {
		now.Close()
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
}

// Cut breaks the connections, of which new ones can be made.
func (c *Cluster) Cut() {
	c.mu.Lock()
	conns := c.conns
	c.conns = nil
	c.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close()
	}
}

// Now is the cluster itself, nil while it is down.
func (c *Cluster) Now() *kfake.Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Broker is "host:port".
func (c *Cluster) Broker() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }

// Target is the broker and a topic.
func (c *Cluster) Target(topic string) string { return c.Broker() + "/" + topic }

// Dial connects, also to a cluster that does not listen.
func (c *Cluster) Dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	if c.net != nil {
		conn, err = c.net.DialContext(ctx, network, address)
	} else {
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
	}
	if err == nil {
		c.mu.Lock()
		c.conns = append(c.conns, conn)
		c.mu.Unlock()
	}
	return conn, err
}

// Dialer makes clients of the cluster.
func (c *Cluster) Dialer(cfg kafkaconn.Config) dial.Dialer {
	return dial.Dialer{Config: cfg, Log: slog.New(slog.DiscardHandler), Dial: c.Dial}
}

// Client is a client of the test itself.
func (c *Cluster) Client(options ...kgo.Opt) *kgo.Client {
	c.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.Broker()), kgo.Dialer(c.Dial), kgo.DisableClientMetrics()}, options...)...)
	if err != nil {
		c.t.Fatal(err)
	}
	return cl
}

// Produce appends values to a partition. A value of nil is a tombstone.
func (c *Cluster) Produce(topic string, partition int32, values ...[]byte) {
	c.t.Helper()
	cl := c.Client(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(8<<20))
	defer cl.Close()
	Produce(c.t, cl, topic, partition, values...)
}

// Produce appends values to a partition by a client that leaves partitions to records.
func Produce(t *testing.T, cl *kgo.Client, topic string, partition int32, values ...[]byte) {
	t.Helper()
	records := make([]*kgo.Record, len(values))
	for i, v := range values {
		records[i] = &kgo.Record{Topic: topic, Partition: partition, Value: v, Key: []byte("k"), Timestamp: time.Unix(1_700_000_000, 0)}
	}
	if err := cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// Lines are texts as values.
func Lines(lines ...string) (values [][]byte) {
	for _, l := range lines {
		values = append(values, []byte(l))
	}
	return values
}

// Committed is the offset that a group has committed, -1 for none.
func (c *Cluster) Committed(group, topic string, partition int32) int64 {
	now := c.Now()
	if now == nil {
		return -1
	}
	if g := now.GroupInfo(group); g != nil {
		if commit, ok := g.Commits[topic][partition]; ok {
			return commit.Offset
		}
	}
	return -1
}

// Stored returns the records of a topic with one partition, in order.
func (c *Cluster) Stored(topic string) (all []*kgo.Record) {
	c.t.Helper()
	now := c.Now()
	if now == nil {
		c.t.Fatal("the cluster is down")
	}
	info := now.PartitionInfo(topic, 0)
	if info == nil || info.HighWatermark == info.LogStartOffset {
		return nil
	}
	cl := c.Client(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))
	defer cl.Close()
	for len(all) == 0 || all[len(all)-1].Offset < info.HighWatermark-1 {
		fetches := cl.PollFetches(c.t.Context())
		if err := fetches.Err(); err != nil {
			c.t.Fatal(err)
		}
		all = append(all, fetches.Records()...)
	}
	return all
}

// Bodies are the values of records.
func Bodies(records []*kgo.Record) (all []string) {
	for _, r := range records {
		all = append(all, strings.Clone(string(r.Value)))
	}
	return all
}

// Login has a client of the test log in with SCRAM-SHA-512.
func Login(user, password string) kgo.Opt {
	return kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha512Mechanism())
}

// End is where partition 0 of a topic ends.
func End(ctx context.Context, cl *kgo.Client, topic string) (int64, error) {
	ends, err := (&dial.Client{Client: cl}).Ends(ctx, topic, []int32{0})
	return ends[0], err
}
