package inputs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/internal/natsconn"
)

// checkNATS reports a target that names no server or no filter, and a group that no
// consumer can be called by.
func checkNATS(s Spec) (err error) {
	if err = natsconn.CheckSource(s.Target); err != nil {
		return err
	}
	if group, ok := s.Options["group"]; ok && group == "" {
		return errors.New("group= names no consumer")
	}
	natsconn.Input{ConsumerGroup: s.Options["group"]}.Validate(func(_ string, fault error) {
		err = errors.Join(err, fmt.Errorf("group=%s %w", s.Options["group"], fault))
	})
	return err
}

// natsInput is how an input reads from its stream.
func natsInput(cfg *config.Daemon, s Spec) natsconn.Input {
	in := cfg.NATS.Input
	if group := s.Options["group"]; group != "" {
		in.ConsumerGroup = group
	}
	return in
}

// consumer is a durable consumer, however its server is called.
type consumer struct {
	stream  string
	created int64 // when the stream was
	name    string
}

// claim notes the consumer of an input. It is an error when another input has it.
func (env Environment) claim(s Spec, c consumer) error {
	if other, taken := env.claimed[c]; taken {
		return fmt.Errorf("it %w", sharing(other, c.name))
	}
	env.claimed[c] = s
	return nil
}

func sharing(other Spec, name string) error {
	return fmt.Errorf("reads with consumer %s, as input '%s' does, so that each takes messages of the other (?group=NAME gives one of them a consumer of its own)", name, other)
}

// CheckConsumers reports inputs that are sure to come to one consumer of one stream: those
// of a server whose filters overlap and whose consumers have one name. Streams of a server
// do not overlap, so both filters are of the same one.
func CheckConsumers(specs []Spec, cfg *config.Daemon) (err error) {
	type reader struct {
		Spec
		server, filter, name string
	}
	var before []reader
	for _, s := range specs {
		if s.Kind.Name != natsKind.Name {
			continue
		}
		server, filter, fault := natsconn.Address(s.Target)
		if fault != nil { // is reported already
			continue
		}
		filter = cmp.Or(filter, ">")
		r := reader{s, strings.ToLower(server), filter, natsInput(cfg, s).ConsumerName(filter)}
		i := slices.IndexFunc(before, func(o reader) bool {
			return o.server == r.server && o.name == r.name && natsconn.Overlap(o.filter, r.filter)
		})
		if i >= 0 {
			err = errors.Join(err, fmt.Errorf("input '%s' %w", s, sharing(before[i].Spec, r.name)))
			continue
		}
		before = append(before, r)
	}
	return err
}

// CheckReplay reports a wish to replay that no input can fulfil.
func CheckReplay(specs []Spec, in natsconn.Input) error {
	if !in.Replays() {
		return nil
	}
	for _, s := range specs {
		if s.Kind.Replays {
			return nil
		}
	}
	return errors.New("--replay-from-sequence, --replay-from-time and --replay-from-latest need an input that replays (nats://host:port/subject)")
}
