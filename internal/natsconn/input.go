package natsconn

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Input is how to read from streams.
type Input struct {
	ConsumerGroup      string `yaml:"consumer_group" flag:"consumer-group" env:"SLUICE_CONSUMER_GROUP" help:"Consumer group of NATS and Kafka inputs, which instances share"`
	AckMode            string `yaml:"ack_mode" flag:"nats-ack-mode" oneof:"delivered snapshot" help:"When messages are acknowledged"`
	ReplayFromSequence string `yaml:"-" flag:"replay-from-sequence" help:"Read from this stream sequence"`
	ReplayFromTime     string `yaml:"-" flag:"replay-from-time" help:"Read from this time (RFC 3339)"`
	ReplayFromLatest   bool   `yaml:"-" flag:"replay-from-latest" help:"Read the newest stored message, and what comes from now on"`
}

// DefaultInput is how streams are read when nobody says otherwise.
func DefaultInput() Input { return Input{AckMode: "delivered"} }

// Snapshot reports whether messages are acknowledged by the save that covers them.
func (n Input) Snapshot() bool { return n.AckMode == "snapshot" }

// Replays reports whether reading begins anew at a given place.
func (n Input) Replays() bool {
	return n.ReplayFromSequence != "" || n.ReplayFromTime != "" || n.ReplayFromLatest
}

// Validate reports places to begin at that are none or that exclude each other, and a
// group that cannot be the name of a consumer.
func (n Input) Validate(fault func(key string, err error)) {
	var given []string
	for _, f := range []struct {
		flag  string
		given bool
	}{
		{"--replay-from-latest", n.ReplayFromLatest},
		{"--replay-from-sequence", n.ReplayFromSequence != ""},
		{"--replay-from-time", n.ReplayFromTime != ""},
	} {
		if f.given {
			given = append(given, f.flag)
		}
	}
	if len(given) > 1 {
		fault(given[0], fmt.Errorf("excludes %s", strings.Join(given[1:], " and ")))
	}
	if s, err := strconv.ParseUint(n.ReplayFromSequence, 10, 64); n.ReplayFromSequence != "" && (err != nil || s == 0) {
		fault("--replay-from-sequence", fmt.Errorf("%q is no sequence number: those begin with 1", n.ReplayFromSequence))
	}
	if _, err := time.Parse(time.RFC3339, n.ReplayFromTime); err != nil && n.ReplayFromTime != "" {
		fault("--replay-from-time", fmt.Errorf("Invalid --replay-from-time '%s': it is no RFC 3339 time, such as 2026-03-10T00:00:00Z", n.ReplayFromTime)) //nolint:staticcheck // users find the text in scripts
	}
	if strings.ContainsAny(n.ConsumerGroup, ".*>/\\ \t\r\n") {
		fault("consumer_group", errors.New("names a consumer: it holds no dots, wildcards, slashes and white space"))
	}
}

// ConsumerName is the durable consumer of a filter.
func (n Input) ConsumerName(filter string) string {
	if n.ConsumerGroup != "" {
		return n.ConsumerGroup
	}
	return "sluice-daemon-" + Sanitised(filter)
}

// CheckSource reports a target "host:port/filter" that names no server, or no filter.
// Without a filter, it is everything.
func CheckSource(target string) error {
	_, subject, err := Address(target)
	if err != nil || subject == "" {
		return err
	}
	return Filter(subject)
}

// Filter reports a subject that no consumer can filter by: with empty tokens or white
// space, or with a wildcard that is not a token, or '>' before the end.
func Filter(subject string) error {
	tokens := strings.Split(subject, ".")
	for i, token := range tokens {
		if token == "" || strings.ContainsAny(token, " \t\r\n") || len(token) > 1 && strings.ContainsAny(token, "*>") || token == ">" && i < len(tokens)-1 {
			return fmt.Errorf("subject '%s' is no filter: tokens with dots between them, none of them empty, '*' for any token and a last '>' for any tokens", subject)
		}
	}
	return nil
}

// Same reports whether two lists of filters take the same subjects.
func Same(a, b []string) bool {
	every := func(of, by []string) bool {
		return !slices.ContainsFunc(of, func(f string) bool { return !Covers(by, f) })
	}
	return every(a, b) && every(b, a)
}
