package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/sluicehq/sluice/sigma/event"
)

// AppendJSON appends a value made of JSON types, object keys sorted at every
// level and nothing escaped for HTML. NaN and infinities become null.
func AppendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		return event.AppendQuoted(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint64:
		return strconv.AppendUint(dst, v, 10)
	case json.Number:
		return append(dst, v...)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return append(dst, "null"...)
		}
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, e)
		}
		return append(dst, ']')
	case map[string]any:
		return appendObject(dst, v)
	}
	return appendOther(dst, v)
}

func appendObject(dst []byte, m map[string]any) []byte {
	dst = append(dst, '{')
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = event.AppendQuoted(dst, k)
		dst = AppendJSON(append(dst, ':'), m[k])
	}
	return append(dst, '}')
}

// appendOther leaves rarer types to encoding/json.
func appendOther(dst []byte, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return event.AppendQuoted(dst, fmt.Sprint(v))
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
