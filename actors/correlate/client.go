package correlate

import (
	"context"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// Client asks the stage.
type Client struct{ actor *mailbox.Client }

// NewClient returns a client of the stage's actor.
func NewClient(c *mailbox.Client) *Client { return &Client{c} }

// Export returns the state of all correlations at one moment. Errors are those of
// mailbox.Ask.
func (c *Client) Export(ctx context.Context) (*correlation.View, error) {
	return mailbox.Ask[*correlation.View](ctx, c.actor, Export{})
}
