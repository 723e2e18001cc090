package tree

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/sigma/event"
)

// ErrTooLong is a value whose text is longer than it may be.
var ErrTooLong = errors.New("value is too long")

// ErrTooDeep is a value with more than MaxDepth containers within each other.
var ErrTooDeep = errors.New("value is nested deeper than 128")

// Append appends the compact JSON text of v to dst, at most limit bytes of it. Members
// stand in the order of their keys. Beside what Parse makes, v may hold int, float64 and
// *big.Int; what is no number is null, and what is infinite is the largest that there
// is. On an error dst is as it was.
func Append(dst []byte, v any, limit int) ([]byte, error) {
	w := writer{out: dst, limit: len(dst) + limit}
	w.value(v, 0)
	if w.err == nil && len(w.out) > w.limit {
		w.err = ErrTooLong
	}
	if w.err != nil {
		return dst, w.err
	}
	return w.out, nil
}

type writer struct {
	out   []byte
	limit int // of out
	err   error
	keys  []string // of the objects that are open
}

func (w *writer) value(v any, depth int) {
	if w.err != nil {
		return
	}
	if len(w.out) > w.limit {
		w.err = ErrTooLong
		return
	}
	switch v := v.(type) {
	case nil:
		w.out = append(w.out, "null"...)
	case bool:
		w.out = strconv.AppendBool(w.out, v)
	case string:
		if len(w.out)+len(v) > w.limit {
			w.err = ErrTooLong
			return
		}
		w.out = event.AppendQuoted(w.out, v)
	case json.Number:
		w.out = append(w.out, v...)
	case int:
		w.out = strconv.AppendInt(w.out, int64(v), 10)
	case float64:
		w.out = appendFloat(w.out, v)
	case *big.Int:
		if v.BitLen()/4 > w.limit-len(w.out) {
			w.err = ErrTooLong
			return
		}
		w.out = v.Append(w.out, 10)
	case []any:
		w.array(v, depth+1)
	case map[string]any:
		w.object(v, depth+1)
	default:
		w.err = errors.New("value has no JSON")
	}
}

func (w *writer) array(list []any, depth int) {
	if depth > MaxDepth {
		w.err = ErrTooDeep
		return
	}
	w.out = append(w.out, '[')
	for i, v := range list {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if w.value(v, depth); w.err != nil {
			return
		}
	}
	w.out = append(w.out, ']')
}

func (w *writer) object(members map[string]any, depth int) {
	if depth > MaxDepth {
		w.err = ErrTooDeep
		return
	}
	from := len(w.keys)
	for k := range members {
		w.keys = append(w.keys, k)
	}
	keys := w.keys[from:]
	slices.SortFunc(keys, strings.Compare)
	w.out = append(w.out, '{')
	for i, k := range keys {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(event.AppendQuoted(w.out, k), ':')
		if w.value(members[k], depth); w.err != nil {
			return
		}
	}
	w.out = append(w.out, '}')
	w.keys = w.keys[:from]
}

// appendFloat writes a number like jq does.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) {
		return append(dst, "null"...)
	}
	f = min(max(f, -math.MaxFloat64), math.MaxFloat64)
	form := byte('f')
	if abs := math.Abs(f); abs != 0 && abs < 1e-6 || abs >= 1e21 {
		form = 'e'
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, form, -1, 64)
	if n := len(dst); form == 'e' && n-start >= 4 && string(dst[n-4:n-1]) == "e-0" { // e-09 is e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}
