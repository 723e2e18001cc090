package daemon

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/state"
)

// openState opens the database, when there is to be one, and decides what of it
// comes back.
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
	d.checkpointer = newCheckpointer(store, time.Duration(d.cfg.State.SaveInterval)*time.Second, d.parts(), log)
	log.Info("state opened", "path", d.cfg.State.DB, "save_interval", d.cfg.State.SaveInterval)
	d.checkpointer.decide(d.cfg)
	d.rules.cache = &ruleCache{
		series: store.Series("rules"), producer: producerName(d.o.Version, d.o.Revision), log: log,
	}
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
func (c *checkpointer) decide(cfg *config.Daemon) {
	head, err := c.series.Head()
	switch {
	case errors.Is(err, state.ErrNone):
		c.log.Info("no state is stored")
	case err != nil:
		c.log.Warn("stored state cannot be used, starting empty", "err", err)
	}
	c.position = head.Position
	restore, reason := restores(cfg, c.position)
	attrs := []any{"restore", restore, "reason", reason}
	if c.position != nil {
		attrs = append(attrs, "stored_sequence", c.position.Sequence, "stored_time", c.position.Time)
	}
	c.log.Info("restore of state decided", attrs...)
	c.restores = restore && err == nil
	if c.restores {
		c.covered = head.Covered
	}
	if cfg.State.Clear {
		for _, p := range c.parts {
			c.dropped[p.name] = true
		}
	}
}

// restores reports whether the state of the stages is restored, and why. The
// position is nil when none is stored.
func restores(cfg *config.Daemon, position *state.Position) (restore bool, reason string) {
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
	case position == nil:
		return false, "replay, and no position is stored"
	case n.ReplayFromSequence != "":
		from, err := strconv.ParseUint(n.ReplayFromSequence, 10, 64)
		return err == nil && from > position.Sequence, "replay from sequence " + n.ReplayFromSequence
	default:
		from, err := time.Parse(time.RFC3339, n.ReplayFromTime)
		return err == nil && from.Unix() > position.Time, "replay from " + n.ReplayFromTime
	}
}

// restore has a part read what is stored of it. What cannot be used is told in the
// log and set aside; the part then starts empty. It reports whether it was read.
func (c *checkpointer) restore(p part) bool {
	if !c.restores {
		return false
	}
	err := c.series.Read(p.name, func(stored int, r io.Reader) error {
		if stored != p.version {
			return &versionError{stored: stored, known: p.version}
		}
		return p.restore(r)
	})
	var other *versionError
	switch {
	case err == nil:
		return true
	case errors.Is(err, state.ErrNone):
		c.log.Info("no such state is stored", "part", p.name)
	case errors.As(err, &other):
		c.log.Warn("stored state has another version, starting empty", "part", p.name, "stored", other.stored, "known", other.known)
	default:
		c.log.Warn("stored state cannot be used, starting empty", "part", p.name, "err", err)
		if err := c.series.Quarantine(p.name); err != nil {
			c.log.Warn("unusable state not set aside", "part", p.name, "err", err)
		}
		c.dropped[p.name] = true
	}
	return false
}

// versionError says that a part was written by a build that writes it otherwise.
type versionError struct{ stored, known int }

func (e *versionError) Error() string {
	return fmt.Sprintf("stored version is %d, this build knows %d", e.stored, e.known)
}

// restored returns an engine with the stored windows; nil when there is nothing
// to restore them for.
func (d *Daemon) restored(set *graph.RuleSet) *correlation.Engine {
	if d.checkpointer == nil || !set.Correlates() {
		return nil
	}
	log := logging.Target(d.log, "sluice.correlation")
	e := correlation.New(set.Correlation, d.cfg.Correlation.MaxStateEntries)
	var back correlation.Restored
	p := correlationPart()
	p.restore = func(r io.Reader) (err error) {
		back, err = e.Restore(r, time.Now().Unix())
		return err
	}
	if !d.checkpointer.restore(p) {
		return nil
	}
	for _, lost := range back.Dropped {
		log.Warn("correlation state dropped", "correlation", lost.Correlation, "reason", lost.Reason, "groups", lost.Groups)
	}
	if back.Evicted > 0 {
		log.Warn("correlation state evicted at restore", "groups", back.Evicted, "limit", d.cfg.Correlation.MaxStateEntries)
	}
	log.Info("correlation state restored", "groups", back.Groups, "saved_at", time.Unix(back.SavedAt, 0).UTC().Format(time.RFC3339))
	return e
}

// parts are the stages with state.
func (d *Daemon) parts() []part { return []part{correlationPart()} }

// correlationPart is the windows. A rule set without correlations leaves what is
// stored of them as it is.
func correlationPart() part {
	return part{
		stage: graph.StageCorrelate, name: "correlation", version: correlation.SnapshotVersion,
		view: func(export any) view {
			if v, ok := export.(*correlation.View); ok && v.Correlations() > 0 {
				return v
			}
			return nil
		},
	}
}
