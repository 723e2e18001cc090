package correlate

import (
	"context"
	"iter"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// Client asks the stage. It answers from a view of the state, so that the size of
// an answer does not delay the stage. Errors are those of mailbox.Ask.
type Client struct {
	actor  *mailbox.Client
	orders orders
}

// Client returns a client of the stage, which answers once it is spawned.
func (s *Stage) Client() *Client { return &Client{actor: mailbox.NewClient(s.Cell())} }

// Export returns the state of all correlations at one moment.
func (c *Client) Export(ctx context.Context) (*correlation.View, error) {
	return mailbox.Ask[*correlation.View](ctx, c.actor, Export{})
}

// List describes the rules in load order.
func (c *Client) List(ctx context.Context) ([]correlation.Entry, error) {
	v, err := c.Export(ctx)
	if err != nil {
		return nil, err
	}
	return v.Entries(correlation.Filter{}), nil
}

// State describes the rules and the groups that f accepts. count is the number of
// groups before f's Offset and Limit. Behind f's After there are only the groups, and
// groups that were added after the listing began may be missing.
func (c *Client) State(ctx context.Context, f correlation.Filter) (rules []correlation.Entry, groups iter.Seq[correlation.GroupEntry], count int, err error) {
	if f.After != nil {
		groups, err = c.behind(ctx, f)
		return nil, groups, 0, err
	}
	v, err := c.Export(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	groups, count = v.Each(f)
	return v.Entries(f), groups, count, nil
}
