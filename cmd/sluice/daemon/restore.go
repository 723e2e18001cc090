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
	d.checkpointer = newCheckpointer(store, time.Duration(d.cfg.State.SaveInterval)*time.Second, log)
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

// decide takes the decision of specification part 23 section 11.3, once for all
// parts that come from the event stream.
func (k *checkpointer) decide(cfg *config.Daemon) {
	head, err := k.series.Head()
	switch {
	case errors.Is(err, state.ErrNone):
		k.log.Info("no state is stored")
	case err != nil:
		k.log.Warn("stored state cannot be used, starting empty", "err", err)
	}
	var position *state.Position
	if err == nil {
		position = head.Position
	}
	restore, reason := restores(cfg, position)
	attrs := []any{"restore", restore, "reason", reason}
	if position != nil {
		attrs = append(attrs, "stored_sequence", position.Sequence, "stored_time", position.Time)
	}
	k.log.Info("restore of state decided", attrs...)
	k.restores = restore && err == nil
	if cfg.State.Clear {
		for _, p := range parts() {
			k.dropped[p.name] = true
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

// restore gives a stored part to read. What cannot be used is told in the log
// and set aside; the part then starts empty. It reports whether read was through.
func (k *checkpointer) restore(name string, version int, read func(io.Reader) error) bool {
	if !k.restores {
		return false
	}
	err := k.series.Read(name, func(stored int, r io.Reader) error {
		if stored != version {
			return &versionError{stored: stored, known: version}
		}
		return read(r)
	})
	var other *versionError
	switch {
	case err == nil:
		return true
	case errors.Is(err, state.ErrNone):
		k.log.Info("no such state is stored", "part", name)
	case errors.As(err, &other):
		k.log.Warn("stored state has another version, starting empty", "part", name, "stored", other.stored, "known", other.known)
	default:
		k.log.Warn("stored state cannot be used, starting empty", "part", name, "err", err)
		if err := k.series.Quarantine(name); err != nil {
			k.log.Warn("unusable state not set aside", "part", name, "err", err)
		}
		k.dropped[name] = true
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
	if !d.checkpointer.restore("correlation", correlation.SnapshotVersion, func(r io.Reader) (err error) {
		back, err = e.Restore(r, time.Now().Unix())
		return err
	}) {
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
