package cel

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/sluicehq/sluice/graph/extract/tree"
)

// typed gives the numbers of v their types, in place.
func typed(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(string(v))
	case []any:
		for i, e := range v {
			v[i] = typed(e)
		}
	case map[string]any:
		for k, m := range v {
			v[k] = typed(m)
		}
	}
	return v
}

// number is an integer if it is spelled as one and not beyond the types of integers.
func number(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	return tree.Double(text)
}

// appendJSON appends the JSON of v, at most limit bytes of it.
func appendJSON(ctx context.Context, dst []byte, v ref.Val, limit int) ([]byte, error) {
	w := writer{ctx: ctx, out: dst, limit: len(dst) + limit}
	w.value(v, 0)
	if w.err == nil && len(w.out) > w.limit {
		w.err = tree.ErrTooLong
	}
	if w.err != nil {
		return dst, w.err
	}
	return w.out, nil
}

type writer struct {
	ctx    context.Context
	out    []byte
	limit  int // of out
	values int // so far
	err    error
}

func (w *writer) value(v ref.Val, depth int) {
	if w.values++; w.values%4096 == 0 && w.err == nil {
		w.err = w.ctx.Err()
	}
	if len(w.out) > w.limit && w.err == nil {
		w.err = tree.ErrTooLong
	}
	if w.err != nil {
		return
	}
	switch v := v.(type) {
	case types.Null:
		w.plain(nil)
	case types.Bool:
		w.plain(bool(v))
	case types.Int:
		w.out = strconv.AppendInt(w.out, int64(v), 10)
	case types.Uint:
		w.out = strconv.AppendUint(w.out, uint64(v), 10)
	case types.Double:
		w.plain(float64(v))
	case types.String:
		w.plain(string(v))
	case types.Bytes:
		if base64.StdEncoding.EncodedLen(len(v)) > w.limit {
			w.err = tree.ErrTooLong
			return
		}
		w.plain(base64.StdEncoding.EncodeToString(v))
	case types.Timestamp:
		w.plain(v.UTC().Format(time.RFC3339Nano))
	case types.Duration:
		w.plain(seconds(v.Duration))
	case *types.Type:
		w.plain(v.TypeName())
	case traits.Mapper:
		w.object(v, depth+1)
	case traits.Lister:
		w.array(v, depth+1)
	default:
		w.err = fmt.Errorf("a value of the type %s has no JSON", v.Type().TypeName())
	}
}

// plain writes what package tree knows.
func (w *writer) plain(v any) {
	if out, err := tree.Append(w.out, v, max(0, w.limit-len(w.out))); err != nil {
		w.err = err
	} else {
		w.out = out
	}
}

func (w *writer) array(list traits.Lister, depth int) {
	if depth > tree.MaxDepth {
		w.err = tree.ErrTooDeep
		return
	}
	w.out = append(w.out, '[')
	for it, first := list.Iterator(), true; w.err == nil && it.HasNext() == types.True; first = false {
		if !first {
			w.out = append(w.out, ',')
		}
		w.value(it.Next(), depth)
	}
	w.out = append(w.out, ']')
}

// object writes a map, in the order of its keys as text.
func (w *writer) object(m traits.Mapper, depth int) {
	if depth > tree.MaxDepth {
		w.err = tree.ErrTooDeep
		return
	}
	type member struct {
		name string
		key  ref.Val
	}
	var members []member
	for it := m.Iterator(); it.HasNext() == types.True; {
		k := it.Next()
		name, ok := k.ConvertToType(types.StringType).(types.String)
		if !ok {
			w.err = fmt.Errorf("a key of the type %s has no JSON", k.Type().TypeName())
			return
		}
		members = append(members, member{string(name), k})
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	w.out = append(w.out, '{')
	for i, each := range members {
		if i > 0 {
			if each.name == members[i-1].name {
				w.err = fmt.Errorf("two keys of a map are spelled %q", each.name)
				return
			}
			w.out = append(w.out, ',')
		}
		w.plain(each.name)
		w.out = append(w.out, ':')
		if w.value(m.Get(each.key), depth); w.err != nil {
			return
		}
	}
	w.out = append(w.out, '}')
}

// seconds is d in seconds, without zeros that say nothing.
func seconds(d time.Duration) string {
	sign := ""
	n := uint64(d)
	if d < 0 {
		sign, n = "-", -n
	}
	text := strconv.FormatUint(n/uint64(time.Second), 10)
	if rest := n % uint64(time.Second); rest > 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%09d", rest), "0")
	}
	return sign + text + "s"
}
