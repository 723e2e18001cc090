package packed

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
)

// The tags of JSON values.
const (
	tagNil byte = iota
	tagFalse
	tagTrue
	tagString
	tagNumber
	tagFloat
	tagInt
	tagList
	tagMap
)

// Append appends v to dst. An error names a type that is no plain data.
func Append(dst []byte, v any) ([]byte, error) { return appendValue(dst, reflect.ValueOf(v)) }

func appendValue(dst []byte, v reflect.Value) (_ []byte, err error) {
	switch v.Kind() {
	case reflect.Bool:
		return AppendBool(dst, v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(dst, v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(dst, v.Uint()), nil
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Float())), nil
	case reflect.String:
		return AppendText(dst, v.String()), nil
	case reflect.Pointer:
		if v.IsNil() {
			return append(dst, 0), nil
		}
		return appendValue(append(dst, 1), v.Elem())
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			for i := range v.Len() {
				dst = append(dst, byte(v.Index(i).Uint()))
			}
			return dst, nil
		}
		return appendList(dst, v)
	case reflect.Slice:
		return appendList(dst, v)
	case reflect.Map:
		return appendMap(dst, v)
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				return nil, fmt.Errorf("%s has the unexported field %s", v.Type(), v.Type().Field(i).Name)
			}
			if dst, err = appendValue(dst, v.Field(i)); err != nil {
				return nil, err
			}
		}
		return dst, nil
	case reflect.Interface:
		return appendJSON(dst, v.Interface())
	}
	return nil, fmt.Errorf("values of type %s cannot be packed", v.Type())
}

// AppendBool appends a byte that Reader.Bool reads.
func AppendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendText appends a text that Reader.Text reads.
func AppendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// appendLength writes the length of what may be nil.
func appendLength(dst []byte, isNil bool, n int) []byte {
	if isNil {
		return append(dst, 0)
	}
	return binary.AppendUvarint(dst, uint64(n)+1)
}

func appendList(dst []byte, v reflect.Value) (_ []byte, err error) {
	if v.Kind() == reflect.Slice {
		dst = appendLength(dst, v.IsNil(), v.Len())
	}
	for i := range v.Len() {
		if dst, err = appendValue(dst, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func appendMap(dst []byte, v reflect.Value) (_ []byte, err error) {
	dst = appendLength(dst, v.IsNil(), v.Len())
	for it := v.MapRange(); it.Next(); {
		if dst, err = appendValue(dst, it.Key()); err != nil {
			return nil, err
		}
		if dst, err = appendValue(dst, it.Value()); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func appendJSON(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, tagNil), nil
	case bool:
		if v {
			return append(dst, tagTrue), nil
		}
		return append(dst, tagFalse), nil
	case string:
		return AppendText(append(dst, tagString), v), nil
	case json.Number:
		return AppendText(append(dst, tagNumber), string(v)), nil
	case float64:
		return binary.LittleEndian.AppendUint64(append(dst, tagFloat), math.Float64bits(v)), nil
	case int:
		return binary.AppendVarint(append(dst, tagInt), int64(v)), nil
	case []any:
		return appendList(append(dst, tagList), reflect.ValueOf(v))
	case map[string]any:
		return appendMap(append(dst, tagMap), reflect.ValueOf(v))
	}
	return nil, fmt.Errorf("values of type %T cannot be packed", v)
}
