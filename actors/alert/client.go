package alert

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/alert/silence"
)

// ErrNotStored is wrapped by the error of a change that could not be stored: nothing has
// changed.
var ErrNotStored = errors.New("silence could not be stored")

// Client asks the stage. Errors are those of mailbox.Ask, unless said otherwise.
type Client struct {
	actor *mailbox.Client
	rows  *rows
}

// Client returns a client of the stage, which answers once it is spawned.
func (s *Stage) Client() *Client { return &Client{mailbox.NewClient(s.Cell()), s.rows} }

// Silences lists the silences: those of the file in its order, then those that were made
// over the API, the oldest first. Their states are those at now.
func (c *Client) Silences(ctx context.Context) (all []*silence.Silence, now int64, err error) {
	listed, err := mailbox.Ask[silencesListed](ctx, c.actor, listSilences{})
	return listed.all, listed.now, err
}

// Made is a silence that was made.
type Made struct {
	ID      string
	Warning string // why it mutes nothing; empty if it does, or will
}

// warning says why a silence mutes nothing.
func (r capacityFound) warning(x *silence.Silence) string {
	var reasons []string
	if r.idle {
		reasons = append(reasons, "no alert pipeline is configured, so nothing is muted until a start with --alert-pipeline")
	}
	if x.State(r.now) == silence.Expired {
		reasons = append(reasons, "ends_at is over, so the silence mutes nothing")
	}
	return strings.Join(reasons, "; ")
}

// AddSilence makes a silence. It is stored before it is in force, and in force before
// AddSilence returns. Other errors are that of silence.Compile, a *FullError, and one that
// wraps ErrNotStored; after any error nothing has changed.
func (c *Client) AddSilence(ctx context.Context, spec silence.Spec) (Made, error) {
	x, err := silence.Compile(spec, silence.API, 0)
	if err != nil {
		return Made{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, mailbox.AskTimeout)
	defer cancel()
	found, err := mailbox.Ask[capacityFound](ctx, c.actor, checkCapacity{})
	if err != nil {
		return Made{}, err
	}
	if err := c.turn(ctx); err != nil {
		return Made{}, err
	}
	defer c.rows.leave()
	x.ID, x.Created = c.rows.newID(), found.now
	if err := c.rows.put(x); err != nil {
		return Made{}, fmt.Errorf("%w: %w", ErrNotStored, err)
	}
	change := addSilence{silence: x, claim: new(claim)}
	if _, err := mailbox.Ask[silenceAdded](ctx, c.actor, change); given(err, change.claim) {
		c.rows.takeBack(x.ID)
		return Made{}, err
	}
	return Made{x.ID, found.warning(x)}, nil
}

// DeleteSilence removes a silence and reports whether it was there. That of the API is gone
// from the database before it mutes no more; that of the file comes back with the next
// reload. An error may wrap ErrNotStored; after any error nothing has changed.
func (c *Client) DeleteSilence(ctx context.Context, id string) (found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, mailbox.AskTimeout)
	defer cancel()
	there, err := mailbox.Ask[silenceFound](ctx, c.actor, findSilence{id})
	if err != nil || there.silence == nil {
		return false, err
	}
	if err := c.turn(ctx); err != nil {
		return false, err
	}
	defer c.rows.leave()
	putBack, err := c.rows.remove(there.silence)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrNotStored, err)
	}
	change := removeSilence{id: id, claim: new(claim)}
	removed, err := mailbox.Ask[silenceRemoved](ctx, c.actor, change)
	if given(err, change.claim) {
		putBack()
		return false, err
	}
	return err != nil || bool(removed), nil
}

// given reports whether a change is given up after an error. One that the actor has begun
// with when nobody waited any longer is made.
func given(err error, c *claim) bool {
	return err != nil && (!errors.Is(err, mailbox.ErrTimeout) || c.take())
}

// turn waits until no other change is under way.
func (c *Client) turn(ctx context.Context) error {
	if c.rows.enter(ctx) {
		return nil
	}
	return &mailbox.Refusal{Actor: c.actor.Name(), Reason: mailbox.ErrTimeout}
}

// Incidents are the open incidents, nil when results are not grouped. What is returned
// never changes.
func (c *Client) Incidents(ctx context.Context) (*incident.View, error) {
	listed, err := mailbox.Ask[incidentsListed](ctx, c.actor, listIncidents{})
	return listed.view, err
}

// configure goes on with another file.
func (c *Client) configure(ctx context.Context, f *alert.File) error {
	_, err := mailbox.Ask[configured](ctx, c.actor, configure{f})
	return err
}

// renew applies the silences of the file again.
func (c *Client) renew(ctx context.Context) error {
	_, err := mailbox.Ask[configured](ctx, c.actor, renew{})
	return err
}
