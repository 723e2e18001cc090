package kafka

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
	"github.com/sluicehq/sluice/internal/suggest"
)

// Settings are the parameters of an input.
type Settings struct {
	Group    string // of consumers; "" is sluice- and the topic
	Instance string // of the group's member, which a restart takes over at once; "" for none
	Snapshot bool   // offsets are committed by saves, else when messages have ended
	Latest   bool   // a group without offsets begins with new messages, else with the oldest
	Pending  int    // messages at most that are read and not committed
}

// Parameters are those of URLs.
var Parameters = []string{"group", "instance", "ack", "start", "pending"}

const (
	defaultPending = 50_000
	maxPending     = 1_000_000
)

// ParseSettings reads the parameters of a URL.
func ParseSettings(options map[string]string) (Settings, error) {
	s := Settings{Pending: defaultPending}
	for key, value := range options {
		var err error
		switch key {
		case "group":
			s.Group, err = value, checkName(key, value)
		case "instance":
			s.Instance, err = value, checkName(key, value)
		case "ack":
			s.Snapshot, err = either(key, value, "delivered", "snapshot")
		case "start":
			s.Latest, err = either(key, value, "earliest", "latest")
		case "pending":
			s.Pending, err = strconv.Atoi(value)
			if err != nil || s.Pending < 1 || s.Pending > maxPending {
				err = fmt.Errorf("pending=%s: a number from 1 to %d is needed", value, maxPending)
			}
		}
		if err != nil {
			return Settings{}, err
		}
	}
	return s, nil
}

// either reports whether value is the second of two words.
func either(key, value, first, second string) (bool, error) {
	if value == first || value == second {
		return value == second, nil
	}
	return false, suggest.Wrap(fmt.Errorf("%s=%s: %s or %s is needed", key, value, first, second), value, []string{first, second})
}

func checkName(key, name string) error {
	if name == "" || strings.TrimSpace(name) != name {
		return fmt.Errorf("%s=%s: a name is needed", key, name)
	}
	return nil
}

// Check reports a target or parameters that cannot be right.
func Check(target string, options map[string]string) error {
	_, _, err := kafkaconn.Address(target)
	_, wrong := ParseSettings(options)
	return errors.Join(err, wrong)
}

// Options describe a source. Dialer and Metrics are required.
type Options struct {
	Settings
	Dialer  dial.Dialer
	Target  string // "broker,broker/topic"
	Metrics *Metrics

	hook kgo.Hook // of tests
	pool kgo.Pool // likewise; nil for that of records
}

// Open looks whether the brokers, the topic and the group can be used, and returns a
// source of the topic. It reads nothing yet.
func Open(ctx context.Context, o Options) (*Source, error) {
	brokers, name, err := kafkaconn.Address(o.Target)
	if err != nil {
		return nil, err
	}
	if o.Group == "" {
		o.Group = "sluice-" + name
	}
	if o.Pending == 0 {
		o.Pending = defaultPending
	}
	client, err := o.Dialer.New(brokers, clientID, dial.Events{})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	topic, err := client.Topic(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := client.Group(ctx, o.Group, name); err != nil {
		return nil, err
	}
	return newSource(o, brokers, topic), nil
}
