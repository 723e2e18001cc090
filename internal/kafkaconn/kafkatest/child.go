package kafkatest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/sluicehq/sluice/internal/childtest"
)

// child is the name of a cluster in a process of its own.
const child = "kafka"

// Child makes the process a cluster if StartProcess has started it as one, and does not
// return then. It is the first call of TestMain.
func Child() {
	childtest.Be(child, func(port int, told string) error {
		dir, topics, _ := strings.Cut(told, "|")
		options := []kfake.Opt{kfake.GroupMinSessionTimeout(time.Second)}
		for topic := range strings.FieldsSeq(topics) {
			name, count, _ := strings.Cut(topic, "=")
			partitions, err := strconv.ParseInt(count, 10, 32)
			if err != nil {
				return err
			}
			options = append(options, kfake.SeedTopics(int32(partitions), name))
		}
		return Serve(dir, port, options...)
	})
}

// Serve runs a cluster until standard input ends, and prints its address. It keeps its log
// in dir, in memory when that is empty. Port 0 is one that is free.
func Serve(dir string, port int, options ...kfake.Opt) error {
	options = append([]kfake.Opt{kfake.NumBrokers(1), kfake.Ports(port)}, options...)
	if dir != "" {
		options = append(options, kfake.DataDir(dir))
	}
	c, err := kfake.NewCluster(options...)
	if err != nil {
		return err
	}
	childtest.Hold(c.ListenAddrs()[0])
	c.Close()
	return nil
}

// Process is a cluster of one broker that can be killed. What it has confirmed outlives
// that.
type Process struct{ *childtest.Process }

// StartProcess starts a cluster with topics in a process of its own. A topic is its name,
// = and the number of its partitions.
func StartProcess(tb testing.TB, topics ...string) *Process {
	tb.Helper()
	return &Process{childtest.Start(tb, child, tb.TempDir()+"|"+strings.Join(topics, " "))}
}

// Target is the broker and a topic.
func (p *Process) Target(topic string) string { return p.Addr + "/" + topic }
