package audit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/sluicehq/sluice/state"
)

// run prunes at each interval.
func (t *Trail) run(ctx context.Context) {
	defer close(t.done)
	tick := time.NewTicker(t.o.Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			t.prune()
		}
	}
}

// prune removes the rows that are too old, then those with the lowest ids until no
// more than the configured number are left. It goes by the time of each row, since a
// clock may have been set back. A store that is closed has nothing to prune.
func (t *Trail) prune() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.pruneRows(t.o.Now()); err != nil && !errors.Is(err, state.ErrClosed) {
		t.fault("audit trail not pruned", err)
	}
}

func (t *Trail) pruneRows(now time.Time) error {
	earliest := now.Unix() - int64(time.Duration(t.o.Config.MaxAge)/time.Second)
	if t.oldest >= earliest && t.count.Load() <= int64(t.o.Config.MaxEntries) {
		return nil
	}
	var dead, kept [][]byte
	err := t.walk(state.Forward, func(_, ts int64, r state.Row) bool {
		if key := bytes.Clone(r.Key()); ts < earliest {
			dead = append(dead, key)
		} else {
			kept = append(kept, key)
		}
		return true
	})
	if err != nil {
		return err
	}
	if surplus := len(kept) - t.o.Config.MaxEntries; surplus > 0 {
		dead, kept = append(dead, kept[:surplus]...), kept[surplus:]
	}
	if len(dead) > 0 {
		// The last id outlives its row.
		if err := t.o.Rows.Put(lastKey, binary.BigEndian.AppendUint64(nil, uint64(t.last))); err != nil {
			return err
		}
		if err := t.o.Rows.Delete(dead...); err != nil {
			return err
		}
	}
	t.count.Store(int64(len(kept)))
	t.oldest = math.MaxInt64
	for _, key := range kept {
		_, ts, _ := parseKey(key)
		t.oldest = min(t.oldest, ts)
	}
	return nil
}
