package pipeline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
)

// include stands for the items that the value of a source holds. They act as if the item
// were a nest around them.
type include struct {
	ref   sourceRef
	items []*item // once expanded
	use   string  // the name under which rules that it reaches depend on it; "" before
}

func (t *include) apply(c *call) error {
	if t.use != "" {
		c.uses[t.use] = true
	}
	return nest{t.items}.apply(c)
}

// content is what an include was expanded to.
type content struct {
	use, json string
}

// filled returns the item with what its source holds inside of it. A source without a
// value is warned about.
func (x *expansion) filled(it *item, position int) (*item, error) {
	inc := it.act.(*include)
	where := fmt.Sprintf("%s: include of '%s'", it.where, inc.ref)
	v := x.values[inc.ref.id]
	if v.Remote && !x.options.AllowRemote {
		return nil, fmt.Errorf("%s: source '%s' is fetched over the network, and items from there are used with --allow-remote-include only", where, inc.ref.id)
	}
	data, err := x.lookup(inc.ref)
	if err != nil {
		return nil, err
	}
	out := *it
	act := &include{ref: inc.ref, use: fmt.Sprintf("include %d of pipeline %d", position, x.number)}
	out.act = act
	x.set.contents = append(x.set.contents, content{act.use, data})
	if isNull(data) {
		x.warn("%s: the source has no value, nothing is inserted", where)
		return &out, nil
	}
	if act.items, err = x.included(data, it.where); err != nil {
		return nil, fmt.Errorf("include parse error: source '%s': %w", inc.ref.id, err)
	}
	return &out, nil
}

// included reads transformation items.
func (x *expansion) included(data string, where string) ([]*item, error) {
	if !strings.HasPrefix(data, "[") {
		return nil, errors.New("the value is no array of transformation objects")
	}
	n, err := document.FromJSON([]byte(data))
	if err != nil {
		return nil, err
	}
	r := reader{pipeline: x.pipeline, included: true}
	return r.items(n.Items, where+".include", false)
}
