package correlate

import (
	"context"
	"iter"
	"math"
	"sync"
	"weak"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/sigma/correlation"
)

const (
	// maxOrders is how many listings keep an order at once: a further one takes the
	// place of the oldest, which is put in order again for each of its pages.
	maxOrders = 4
	// groupsAtOnce is how many groups the stage finds before it goes on with lines.
	groupsAtOnce = 256
)

// behind returns the groups behind f.After, whose Offset counts no more. The first page
// that is asked for makes an order of all groups; the others look at their own ones.
func (c *Client) behind(ctx context.Context, f correlation.Filter) (iter.Seq[correlation.GroupEntry], error) {
	if f.Limit == 0 {
		f.Limit = math.MaxInt
	}
	left := f.Limit
	var pages []*correlation.Page
	for order, next := f.After.Order(); left > 0; {
		if order == nil {
			v, err := c.Export(ctx)
			if err != nil {
				return nil, err
			}
			order, next, pages, left = v.Order(f), 0, nil, f.Limit
			c.orders.add(order)
		}
		found, err := mailbox.Ask[Found](ctx, c.actor, Find{order, next, min(left, groupsAtOnce)})
		if err != nil {
			return nil, err
		}
		page := found.Page
		if page == nil {
			order = nil
			continue
		}
		pages = append(pages, page)
		if page.Last {
			break
		}
		next = page.Next
		left -= page.Len()
	}
	return func(yield func(correlation.GroupEntry) bool) {
		for _, p := range pages {
			for g := range p.Each(f) {
				if !yield(g) {
					return
				}
			}
		}
	}, nil
}

// orders bounds the orders of the listings that are under way. They belong to the
// listings, and go with them.
type orders struct {
	mu   sync.Mutex // guards the rest
	made [maxOrders]weak.Pointer[correlation.Order]
	next int
}

// add makes room for an order.
func (k *orders) add(o *correlation.Order) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := -1
	for i := range k.made {
		if other := k.made[i].Value(); other == nil || other.Dropped() {
			at = i
			break
		}
	}
	if at < 0 {
		at = k.next
		k.next = (k.next + 1) % maxOrders
		if other := k.made[at].Value(); other != nil {
			other.Drop()
		}
	}
	k.made[at] = weak.Make(o)
}
