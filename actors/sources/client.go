package sources

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/sigma/pipeline"
	"github.com/sluicehq/sluice/sources/fetch"
)

// Client asks the actor. A nil client is that of a daemon without sources. Errors are those
// of mailbox.Ask, unless said otherwise.
type Client struct {
	actor *mailbox.Client
	stage *Stage
}

// Client returns a client of the actor, which answers once it is spawned.
func (s *Stage) Client() *Client { return &Client{mailbox.NewClient(s.Cell()), s} }

// Entry describes a source to readers.
type Entry struct {
	SourceID string `json:"source_id"`
	Pipeline string `json:"pipeline"` // the file that declares it
	Type     string `json:"type"`
	Refresh  string `json:"refresh"`
	Required bool   `json:"required"`
}

// List lists the sources in the order of their declarations. It asks nobody.
func (c *Client) List() []Entry {
	list := []Entry{}
	if c == nil {
		return list
	}
	for _, d := range c.stage.o.Declarations {
		list = append(list, EntryOf(d))
	}
	return list
}

// EntryOf describes a declaration.
func EntryOf(d *fetch.Declaration) Entry {
	return Entry{SourceID: d.ID, Pipeline: d.Place(), Type: d.Type.Label(), Refresh: d.Refresh.String(), Required: d.Required}
}

// Resolve has a source fetched, or all of them with an empty id. It does not wait for the
// fetch.
func (c *Client) Resolve(ctx context.Context, id string) (Resolution, error) {
	if c == nil {
		return None, nil
	}
	e, known := c.stage.book.byID[id] // which never changes
	if id != "" && !known {
		return Unknown, nil
	}
	return mailbox.Ask[Resolution](ctx, c.actor, resolve{e})
}

// forgetWait is how long Invalidate waits at most.
const forgetWait = 30 * time.Second

// StoreError is a value in the state database that could not be removed. In memory it is
// dropped.
type StoreError struct {
	Source string
	Err    error
}

// Error says that a restart would bring the value back.
func (e *StoreError) Error() string {
	return fmt.Sprintf("the stored value of source '%s' is not removed: %s", e.Source, e.Err)
}

// Unwrap gives what the database said.
func (e *StoreError) Unwrap() error { return e.Err }

// Invalidate drops the last value of a source, in the state database, too, before it
// returns. Rules keep what they were made with. An id that nobody declares is no error. It
// waits for an actor that is busy, for 30 seconds at most. A value that could not be removed
// from the database is a *StoreError; after any error the value may be dropped all the same.
func (c *Client) Invalidate(ctx context.Context, id string) error {
	if c == nil {
		return nil
	}
	e := c.stage.book.byID[id]
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, forgetWait)
	defer cancel()
	told := make(chan error, 1)
	switch _, err := c.stage.Lane().Put(ctx, []any{forget{e, told}}); {
	case ctx.Err() != nil:
		return c.refusal(mailbox.ErrTimeout)
	case err != nil:
		return err
	}
	select {
	case err := <-told:
		switch {
		case errors.Is(err, errEnded):
			return c.refusal(mailbox.ErrStopped)
		case err != nil:
			return &StoreError{id, err}
		}
		return nil
	case <-c.stage.ctx.Done():
		return c.refusal(mailbox.ErrStopped)
	case <-ctx.Done():
		return c.refusal(mailbox.ErrTimeout)
	}
}

func (c *Client) refusal(reason error) error {
	return &mailbox.Refusal{Actor: Name, Reason: reason}
}

// Snapshot are the current values. It asks nobody.
func (c *Client) Snapshot() *Snapshot { return c.stage.snapshot.Load() }

// Round are values that do not count yet.
type Round struct {
	client *Client
	round  *round
}

// Fetch fetches every source, each after the call, and returns when all have ended. The
// error is an *UnresolvedError when required sources have no value, or that of ctx.
func (c *Client) Fetch(ctx context.Context) (*Round, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := newRound(len(c.stage.o.Declarations))
	if _, err := c.stage.Lane().Put(ctx, []any{asked{r}}); err != nil {
		return nil, err
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.stage.ctx.Done():
		return nil, context.Canceled
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return &Round{c, r}, nil
}

// Values are the values by id of their source.
func (r *Round) Values() map[string]pipeline.Value {
	return r.client.stage.book.snapshotOf(func(e *entry) []byte { return r.round.values[e.number].json }).Values()
}

// Commit makes the values the current ones. Those that came later stay.
func (r *Round) Commit(ctx context.Context) error {
	_, err := mailbox.Ask[committed](ctx, r.client.actor, commit{r.round})
	return err
}
