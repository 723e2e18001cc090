// Package rulecache keeps parsed rule documents in the state database, so that a start with
// unchanged files does not parse them. What stands behind parsing, from filters to compiling,
// is done at every start. Whatever is the matter with what is stored, the files are there to
// be loaded.
package rulecache

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
	"github.com/sluicehq/sluice/internal/plural"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/packed"
	"github.com/sluicehq/sluice/state"
)

// The parts of stored documents, and their version.
const (
	Schema        = 2
	PartHeader    = "header"
	PartDocuments = "documents"
)

// header says what stored documents were made of. It is read and checked
// before the documents are.
type header struct {
	SchemaVersion int
	Producer      string
	Inputs        []load.File       // in load order
	LoadOptions   [sha256.Size]byte // of the options that change what is loaded
	CreatedAt     int64             // Unix seconds
}

// Options of a cache.
type Options struct {
	Series   *state.Series
	Producer string // of this build; documents of another are not read
	Log      *slog.Logger
}

// Cache is the stored documents.
type Cache struct {
	Options

	writing sync.Mutex // one write at a time; guards written
	written uint64     // newest generation that was stored
}

// New returns the cache that a series holds.
func New(o Options) *Cache { return &Cache{Options: o} }

// Entry is what Write stores.
type Entry struct {
	Generation uint64
	Documents  *load.Documents
	Cached     bool // they came from the cache
}

// Producer tells builds apart, also those without a version of their own.
func Producer(version, revision string) string {
	name := version + " " + revision
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			name += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return name
}

// Read returns the stored documents when they are what the files would give, nil
// otherwise.
// Stale says that the header is to be written again: files were touched without a
// change.
func (c *Cache) Read(ctx context.Context, found []load.Source, o *ruleset.Options) (docs *load.Documents, stale bool) {
	h, files, stale, err := c.check(ctx, found, o)
	if err == nil {
		var data string
		if data, err = c.data(PartDocuments); err == nil {
			docs, err = load.Unpack(data, files)
		}
	}
	switch {
	case errors.Is(err, state.ErrNone) || ctx.Err() != nil:
		return nil, false
	case err != nil:
		c.Log.Info("rule cache discarded", "reason", err)
		return nil, false
	}
	c.Log.Info("rules taken from the cache", "files", len(files), "created_at", time.Unix(h.CreatedAt, 0).UTC().Format(time.RFC3339))
	return docs, stale
}

// data reads a stored part, whose checksum is right.
func (c *Cache) data(name string) (string, error) {
	data, version, err := c.Series.Whole(name)
	if err == nil && version != Schema {
		err = &state.VersionError{Stored: version, Known: Schema}
	}
	return data, err
}

// check compares the stored header with the world as it is now. It returns how the
// files are now.
func (c *Cache) check(ctx context.Context, found []load.Source, o *ruleset.Options) (h header, files []load.File, stale bool, err error) {
	data, err := c.data(PartHeader)
	if err == nil {
		err = packed.Read(data, &h)
	}
	var options [sha256.Size]byte
	if err == nil {
		options, err = hashOptions(o)
	}
	switch {
	case err != nil:
	case h.SchemaVersion != Schema:
		err = &state.VersionError{Stored: h.SchemaVersion, Known: Schema}
	case h.Producer != c.Producer:
		err = errors.New("another build wrote it")
	case h.LoadOptions != options:
		err = errors.New("options differ")
	case len(h.Inputs) != len(found):
		err = fmt.Errorf("%s, there were %d", plural.Of(len(found), "file"), len(h.Inputs))
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

// Write stores the documents of a generation. One that is not the newest any more
// is not stored. What came from the cache stays as it is, under a new header.
func (c *Cache) Write(e Entry, o *ruleset.Options) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if e.Generation <= c.written {
		return nil
	}
	options, err := hashOptions(o)
	if err != nil {
		return err
	}
	head, err := packed.Append(nil, header{
		SchemaVersion: Schema, Producer: c.Producer, Inputs: e.Documents.Files(), LoadOptions: options, CreatedAt: time.Now().Unix(),
	})
	if err != nil {
		return err
	}
	s, err := c.Series.Begin()
	if err != nil {
		return err
	}
	if err = c.writeDocuments(s, e); err == nil {
		err = s.Write(PartHeader, Schema, bytesWriter(head))
	}
	if err == nil {
		err = s.Commit(time.Now().Unix())
	}
	if err != nil && !errors.Is(err, state.ErrCleanup) {
		return errors.Join(err, s.Discard())
	}
	c.written = e.Generation
	return nil
}

func (c *Cache) writeDocuments(s *state.Save, e Entry) error {
	if e.Cached && s.Keep(PartDocuments) {
		return nil
	}
	body, err := e.Documents.Append(nil)
	if err != nil {
		return err
	}
	return s.Write(PartDocuments, Schema, bytesWriter(body))
}

func bytesWriter(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}
