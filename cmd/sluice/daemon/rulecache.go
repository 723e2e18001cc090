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
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/packed"
	"github.com/sluicehq/sluice/state"
)

// The parts of stored documents, and their version.
const (
	cacheSchema   = 2
	partHeader    = "header"
	partDocuments = "documents"
)

// cacheHeader says what stored documents were made of. It is read and checked
// before the documents are.
type cacheHeader struct {
	SchemaVersion int
	Producer      string
	Inputs        []load.File       // in load order
	LoadOptions   [sha256.Size]byte // of the options that change what is loaded
	CreatedAt     int64             // Unix seconds
}

// ruleCache keeps parsed rule documents in the state database, so that a start
// with unchanged files does not parse them. What stands behind parsing, from
// filters to compiling, is done at every start.
type ruleCache struct {
	series   *state.Series
	producer string
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

// read returns the stored documents when they are what the files would give, nil
// otherwise: whatever is the matter with them, the files are there to be loaded.
// Stale says that the header is to be written again: files were touched without a
// change.
func (c *ruleCache) read(ctx context.Context, found []load.Source, o *ruleset.Options) (docs *load.Documents, stale bool) {
	header, files, stale, err := c.check(ctx, found, o)
	if err == nil {
		var data string
		if data, err = c.data(partDocuments); err == nil {
			docs, err = load.Unpack(data, files)
		}
	}
	switch {
	case errors.Is(err, state.ErrNone) || ctx.Err() != nil:
		return nil, false
	case err != nil:
		c.log.Info("rule cache discarded", "reason", err)
		return nil, false
	}
	c.log.Info("rules taken from the cache", "files", len(files), "created_at", time.Unix(header.CreatedAt, 0).UTC().Format(time.RFC3339))
	return docs, stale
}

// data reads a stored part, whose checksum is right.
func (c *ruleCache) data(name string) (string, error) {
	data, version, err := c.series.Whole(name)
	if err == nil && version != cacheSchema {
		err = &versionError{stored: version, known: cacheSchema}
	}
	return data, err
}

// check compares the stored header with the world as it is now. It returns how the
// files are now.
func (c *ruleCache) check(ctx context.Context, found []load.Source, o *ruleset.Options) (h cacheHeader, files []load.File, stale bool, err error) {
	data, err := c.data(partHeader)
	if err == nil {
		err = packed.Read(data, &h)
	}
	var options [sha256.Size]byte
	if err == nil {
		options, err = hashOptions(o)
	}
	switch {
	case err != nil:
	case h.SchemaVersion != cacheSchema:
		err = &versionError{stored: h.SchemaVersion, known: cacheSchema}
	case h.Producer != c.producer:
		err = errors.New("another build wrote it")
	case h.LoadOptions != options:
		err = errors.New("options differ")
	case len(h.Inputs) != len(found):
		err = fmt.Errorf("%d files, there were %d", len(found), len(h.Inputs))
	default:
		files, stale, err = load.Survey(ctx, found, h.Inputs, time.Now())
	}
	if err != nil {
		return h, nil, false, err
	}
	for i := range files {
		if !files[i].Same(&h.Inputs[i]) {
			return h, nil, false, fmt.Errorf("%s is not what it was", files[i].Path)
		}
	}
	return h, files, stale, nil
}

// hashOptions is a digest of what decides over the documents beside the files.
func hashOptions(o *ruleset.Options) ([sha256.Size]byte, error) {
	raw, err := packed.Append(nil, struct {
		Roots, ExcludeRules []string
		MinLevel            string
	}{o.Roots, o.ExcludeRules, o.MinLevel})
	return sha256.Sum256(raw), err
}

// write stores the documents of a generation. One that is not the newest any more
// is not stored. What came from the cache stays as it is, under a new header.
func (c *ruleCache) write(g *generation, o *ruleset.Options) error {
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
		SchemaVersion: cacheSchema, Producer: c.producer, Inputs: g.documents.Files(), LoadOptions: options, CreatedAt: time.Now().Unix(),
	})
	if err != nil {
		return err
	}
	s, err := c.series.Begin()
	if err != nil {
		return err
	}
	if err = c.writeDocuments(s, g); err == nil {
		err = s.Write(partHeader, cacheSchema, bytesWriter(header))
	}
	if err == nil {
		err = s.Commit(time.Now().Unix())
	}
	if err != nil && !errors.Is(err, state.ErrCleanup) {
		return errors.Join(err, s.Discard())
	}
	c.written = g.set.Generation
	return nil
}

func (c *ruleCache) writeDocuments(s *state.Save, g *generation) error {
	if g.cached && s.Keep(partDocuments) {
		return nil
	}
	body, err := g.documents.Append(nil)
	if err != nil {
		return err
	}
	return s.Write(partDocuments, cacheSchema, bytesWriter(body))
}

func bytesWriter(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}
