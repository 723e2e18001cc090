package daemon

import (
	"cmp"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/cmd/sluice/rulecache"
	"github.com/sluicehq/sluice/state"
)

// openState opens the database, when there is to be one.
func (d *Daemon) openState() error {
	if d.cfg.State.DB == "" {
		return nil
	}
	log := logging.Target(d.log, "sluice.state")
	store, err := state.Open(d.cfg.State.DB, log)
	if errors.Is(err, state.ErrDamaged) {
		store, err = reopen(d.cfg.State.DB, err, log)
	}
	if err != nil {
		return configFault(err)
	}
	d.checkpointer = newCheckpointer(store, time.Duration(d.cfg.State.SaveInterval)*time.Second, log)
	log.Info("state opened", "path", d.cfg.State.DB, "save_interval", d.cfg.State.SaveInterval)
	d.rules.cache = rulecache.New(rulecache.Options{
		Series: store.Series("rules"), Producer: rulecache.Producer(d.o.Version, d.o.Revision), Log: log,
	})
	return nil
}

// reopen sets a damaged directory aside, so that damage does not keep the daemon
// from starting, and opens an empty one.
func reopen(dir string, damage error, log *slog.Logger) (*state.Store, error) {
	to, err := state.SetAside(dir)
	if err != nil {
		return nil, errors.Join(damage, err)
	}
	log.Warn("state directory cannot be used, starting empty", "path", dir, "set_aside", to, "err", damage)
	return state.Open(dir, log)
}

// remember stores a rule set in the background.
func (d *Daemon) remember(g *generation) {
	if d.checkpointer != nil {
		d.checkpointer.background(func() { d.rules.remember(g) })
	}
}

// decide decides whether what is stored comes back, once for all parts that come
// from the event stream. docs/operations.md has the table.
// streams are those that a replay reads.
func (c *checkpointer) decide(cfg *config.Daemon, streams []string) {
	head, err := c.series.Head()
	switch {
	case errors.Is(err, state.ErrNone):
		c.log.Info("no state is stored")
	case err != nil:
		c.log.Warn("stored state cannot be used, starting empty", "err", err)
	}
	c.positions = head.Positions()
	read := slices.DeleteFunc(slices.Clone(c.positions), func(p state.Position) bool {
		return p.Stream != "" && !slices.Contains(streams, p.Stream)
	})
	restore, reason := restores(cfg, read)
	attrs := []any{"restore", restore, "reason", reason}
	if len(read) > 0 { // the highest of each is what counts
		sequence := slices.MaxFunc(read, func(a, b state.Position) int { return cmp.Compare(a.Sequence, b.Sequence) }).Sequence
		at := slices.MaxFunc(read, func(a, b state.Position) int { return cmp.Compare(a.Time, b.Time) }).Time
		attrs = append(attrs, "stored_sequence", sequence, "stored_time", at)
	}
	c.log.Info("restore of state decided", attrs...)
	c.restores = restore && err == nil
	if c.restores {
		c.covered = head.Covered
	} else {
		c.positions = nil // of a state that is not there
	}
	c.clears = cfg.State.Clear
}

// restores reports whether the state of the stages is restored, and why. A replay must
// begin behind every stored position of the streams that it reads.
func restores(cfg *config.Daemon, positions []state.Position) (restore bool, reason string) {
	n := &cfg.NATS
	switch {
	case cfg.State.Clear:
		return false, "--clear-state"
	case cfg.State.Keep:
		return true, "--keep-state"
	case n.ReplayFromLatest:
		return false, "--replay-from-latest"
	case n.ReplayFromSequence == "" && n.ReplayFromTime == "":
		return true, "nothing is replayed"
	case len(positions) == 0:
		return false, "replay, and no position is stored"
	case n.ReplayFromSequence != "":
		from, err := strconv.ParseUint(n.ReplayFromSequence, 10, 64)
		before := func(p state.Position) bool { return from <= p.Sequence }
		return err == nil && !slices.ContainsFunc(positions, before), "replay from sequence " + n.ReplayFromSequence
	default:
		from, err := time.Parse(time.RFC3339, n.ReplayFromTime)
		before := func(p state.Position) bool { return from.Unix() <= p.Time }
		return err == nil && !slices.ContainsFunc(positions, before), "replay from " + n.ReplayFromTime
	}
}

// begin gives the parts what is stored of them, as decided.
func (c *checkpointer) begin(parts []actors.SavedPart) {
	c.parts = parts
	for _, p := range parts {
		if c.clears {
			c.dropped[p.Name] = true
		}
		if c.restores && p.Restore != nil {
			c.restore(p)
		}
	}
}

// restore gives a part what is stored of it. Data that cannot be used is logged and
// set aside, and the part starts empty.
func (c *checkpointer) restore(p actors.SavedPart) {
	err := c.series.Read(p.Name, func(stored int, r io.Reader) error {
		if stored != p.Version {
			return &state.VersionError{Stored: stored, Known: p.Version}
		}
		return p.Restore(r, time.Now())
	})
	var other *state.VersionError
	switch {
	case err == nil:
	case errors.Is(err, state.ErrNone):
		c.log.Info("no such state is stored", "part", p.Name)
	case errors.As(err, &other):
		c.log.Warn("stored state has another version, starting empty", "part", p.Name, "stored", other.Stored, "known", other.Known)
	default:
		c.log.Warn("stored state cannot be used, starting empty", "part", p.Name, "err", err)
		if err := c.series.Quarantine(p.Name); err != nil {
			c.log.Warn("unusable state not set aside", "part", p.Name, "err", err)
		}
		c.dropped[p.Name] = true
	}
}
