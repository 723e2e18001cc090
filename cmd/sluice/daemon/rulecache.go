package daemon

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/sigma/packed"
	"github.com/sluicehq/sluice/state"
)

// The parts of a stored rule set, and their version.
const (
	cacheSchema = 1
	partHeader  = "header"
	partRules   = "rules"
)

// cacheHeader says what stored rules were made of. It is read and checked before
// the rules are.
type cacheHeader struct {
	SchemaVersion    int
	Producer         string
	Inputs           []input
	EngineOptions    [sha256.Size]byte // of the options that change what is loaded
	DetectionRules   int
	CorrelationRules int
	Rejected         int
	Excluded         int
	CreatedAt        int64 // Unix seconds
}

// ruleCache keeps loaded rules in the state database, so that a start with
// unchanged files does not parse them: filters merged, pipelines applied, and
// everything the load had to say.
type ruleCache struct {
	series   *state.Series
	producer string
	strict   bool
	log      *slog.Logger

	writing sync.Mutex // one write at a time; guards written
	written uint64     // newest generation that was stored
}

// producerName tells builds apart, also those without a version of their own.
func producerName(version, revision string) string {
	name := version + " " + revision
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			name += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return name
}

// cachedRules are rules that came from the cache.
type cachedRules struct {
	rules  *ruleset.Rules
	inputs []input
	stale  bool // the header is to be written again: files were touched and not changed
}

// read returns the stored rules when they are what the
// files would give. Whatever is the matter with them, the files are there to be
// loaded.
func (c *ruleCache) read(ctx context.Context, names []string, o ruleset.Options) (cachedRules, bool) {
	var got cachedRules
	var header cacheHeader
	err := c.part(partHeader, &header)
	if err == nil {
		got.inputs, got.stale, err = c.check(ctx, &header, names, o)
	}
	var rules ruleset.Rules
	if err == nil {
		err = c.part(partRules, &rules)
	}
	if err == nil && rules.Collection == nil {
		err = errors.New("no rules in it")
	}
	switch {
	case errors.Is(err, state.ErrNone) || ctx.Err() != nil:
		return got, false
	case err != nil:
		c.log.Info("rule cache discarded", "reason", err)
		return got, false
	}
	got.rules = &rules
	c.log.Info("rules taken from the cache", "files", len(names), "created_at", time.Unix(header.CreatedAt, 0).UTC().Format(time.RFC3339))
	return got, true
}

// part reads a stored part into v.
func (c *ruleCache) part(name string, v any) error {
	data, err := c.data(name)
	if err != nil {
		return err
	}
	return packed.Read(data, v)
}

// data reads a stored part, whose checksum is right.
func (c *ruleCache) data(name string) (string, error) {
	data, version, err := c.series.Whole(name)
	if err == nil && version != cacheSchema {
		err = &versionError{stored: version, known: cacheSchema}
	}
	return data, err
}

// check compares a header with the world as it is now.
func (c *ruleCache) check(ctx context.Context, h *cacheHeader, names []string, o ruleset.Options) (found []input, stale bool, err error) {
	options, err := hashOptions(o)
	switch {
	case err != nil:
		return nil, false, err
	case h.SchemaVersion != cacheSchema:
		return nil, false, &versionError{stored: h.SchemaVersion, known: cacheSchema}
	case h.Producer != c.producer:
		return nil, false, errors.New("another build wrote it")
	case h.EngineOptions != options:
		return nil, false, errors.New("options differ")
	case c.strict && h.Rejected > 0:
		return nil, false, fmt.Errorf("%d documents are rejected and --strict-rules is set", h.Rejected)
	case len(h.Inputs) != len(names):
		return nil, false, fmt.Errorf("%d files, there were %d", len(names), len(h.Inputs))
	}
	if found, stale, err = survey(ctx, names, h.Inputs, time.Now()); err != nil {
		return nil, false, err
	}
	for i := range found {
		was := &h.Inputs[i]
		if found[i].Path != was.Path || found[i].SHA256 != was.SHA256 || found[i].Missing != was.Missing {
			return nil, false, fmt.Errorf("%s is not what it was", found[i].Path)
		}
	}
	return found, stale, nil
}

// hashOptions is a digest of what decides over the rules beside the files.
func hashOptions(o ruleset.Options) ([sha256.Size]byte, error) {
	raw, err := packed.Append(nil, []any{o.MinLevel, o.NoFilters, list(o.Roots), list(o.Pipelines), list(o.ExcludeRules)})
	return sha256.Sum256(raw), err
}

func list(texts []string) []any {
	var out []any
	for _, s := range texts {
		out = append(out, s)
	}
	return out
}

// write stores a generation. One that is not the newest any more is not stored.
// What came from the cache stays as it is, under a new header.
func (c *ruleCache) write(g *generation, o ruleset.Options) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if g.set.Generation <= c.written {
		return nil
	}
	options, err := hashOptions(o)
	if err != nil {
		return err
	}
	header, err := packed.Append(nil, cacheHeader{
		SchemaVersion: cacheSchema, Producer: c.producer, Inputs: g.inputs, EngineOptions: options,
		DetectionRules: len(g.collection.Rules), CorrelationRules: len(g.collection.Correlations),
		Rejected: len(g.collection.Rejected), Excluded: g.collection.Excluded, CreatedAt: time.Now().Unix(),
	})
	if err != nil {
		return err
	}
	s, err := c.series.Begin()
	if err != nil {
		return err
	}
	if err = c.writeRules(s, g); err == nil {
		err = s.Write(partHeader, cacheSchema, bytesWriter(header))
	}
	if err == nil {
		err = s.Commit(time.Now().Unix(), nil)
	}
	if err != nil && !errors.Is(err, state.ErrCleanup) {
		return errors.Join(err, s.Discard())
	}
	c.written = g.set.Generation
	return nil
}

func (c *ruleCache) writeRules(s *state.Save, g *generation) error {
	if g.cached && s.Keep(partRules) {
		return nil
	}
	body, err := packed.Append(nil, ruleset.Rules{Collection: g.collection, Notes: g.notes, Details: g.details})
	if err != nil {
		return err
	}
	return s.Write(partRules, cacheSchema, bytesWriter(body))
}

func bytesWriter(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}
