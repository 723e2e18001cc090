package inputs

import (
	"errors"
	"fmt"

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
