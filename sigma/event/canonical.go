package event

import (
	"cmp"
	"slices"
)

// AppendCanonical appends a form that is the same for all values that are equal: keys
// sorted, those of a repeated key as an array, numbers by their text.
func (v Value) AppendCanonical(dst []byte) []byte {
	switch v.Type {
	case Object:
		return v.appendSorted(dst)
	case Array:
		dst = append(dst, '[')
		for e := range v.Elements {
			dst = append(e.AppendCanonical(dst), ',')
		}
		return append(dst, ']')
	case String:
		return AppendQuoted(dst, AppendUnquoted(nil, v.Raw))
	case Text:
		return AppendQuoted(dst, AppendValid(nil, v.Raw))
	case Number:
		return AppendNumberText(dst, v.Raw)
	}
	return append(dst, v.Raw...)
}

func (v Value) appendSorted(dst []byte) []byte {
	type member struct {
		key   string
		value Value
	}
	var list []member
	for k, m := range v.Members {
		list = append(list, member{string(AppendUnquoted(nil, k)), m})
	}
	slices.SortStableFunc(list, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for i := 0; i < len(list); {
		same := i
		for same < len(list) && list[same].key == list[i].key {
			same++
		}
		dst = append(AppendQuoted(dst, list[i].key), ':')
		if same == i+1 {
			dst = append(list[i].value.AppendCanonical(dst), ',')
			i = same
			continue
		}
		dst = append(dst, '[')
		for ; i < same; i++ {
			dst = append(list[i].value.AppendCanonical(dst), ',')
		}
		dst = append(dst, "],"...)
	}
	return append(dst, '}')
}
