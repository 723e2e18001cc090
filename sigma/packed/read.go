package packed

import (
	"encoding/json"
	"reflect"
)

// maxDepth bounds how deep values may lie in each other.
const maxDepth = 1000

// Read reads what Append wrote of a value of the same type into the value that
// into points to. Strings share the memory of data.
func Read(data string, into any) error {
	r := NewReader(data)
	r.value(reflect.ValueOf(into).Elem(), 0)
	return r.End()
}

func (r *Reader) value(v reflect.Value, depth int) {
	if depth > maxDepth {
		r.Fail()
	}
	if r.bad {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint())
	case reflect.Float64:
		v.SetFloat(r.Float())
	case reflect.String:
		v.SetString(r.Text())
	case reflect.Pointer:
		if r.Bool() {
			v.Set(reflect.New(v.Type().Elem()))
			r.value(v.Elem(), depth+1)
		}
	case reflect.Slice:
		switch n, isNil := r.length(); {
		case isNil:
		case n == 0:
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		default:
			v.Grow(n)
			v.SetLen(n)
			r.list(v, depth)
		}
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 { // a digest
			copy(v.Bytes(), r.take(v.Len()))
			return
		}
		r.list(v, depth)
	case reflect.Map:
		r.mapping(v, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			r.value(v.Field(i), depth+1)
		}
	case reflect.Interface:
		if j := r.json(depth); j != nil {
			v.Set(reflect.ValueOf(j))
		}
	default:
		r.Fail()
	}
}

func (r *Reader) list(v reflect.Value, depth int) {
	for i := range v.Len() {
		r.value(v.Index(i), depth+1)
	}
}

func (r *Reader) mapping(v reflect.Value, depth int) {
	n, isNil := r.length()
	if isNil {
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), n))
	for range n {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		r.value(key, depth+1)
		r.value(value, depth+1)
		if r.bad {
			return
		}
		v.SetMapIndex(key, value)
	}
}

// json reads a JSON value.
func (r *Reader) json(depth int) any {
	switch r.Byte() {
	case tagFalse:
		return false
	case tagTrue:
		return true
	case tagString:
		return r.Text()
	case tagNumber:
		return json.Number(r.Text())
	case tagFloat:
		return r.Float()
	case tagInt:
		return int(r.Int())
	case tagList:
		var l []any
		r.value(reflect.ValueOf(&l).Elem(), depth+1)
		return l
	case tagMap:
		var m map[string]any
		r.value(reflect.ValueOf(&m).Elem(), depth+1)
		return m
	case tagNil:
	default:
		r.Fail()
	}
	return nil
}
