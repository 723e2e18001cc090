package packed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// ErrDamaged is wrapped by Read for bytes that Append cannot have written.
var ErrDamaged = errors.New("packed data is damaged")

// maxDepth bounds how deep values may lie in each other.
const maxDepth = 1000

// Read reads what Append wrote of a value of the same type into the value that
// into points to. Strings share the memory of data.
func Read(data string, into any) error {
	r := reader{rest: data}
	r.value(reflect.ValueOf(into).Elem(), 0)
	if !r.bad && r.rest != "" {
		return fmt.Errorf("%w: %d bytes too many", ErrDamaged, len(r.rest))
	}
	if r.bad {
		return fmt.Errorf("%w: %d bytes before its end", ErrDamaged, len(r.rest))
	}
	return nil
}

// reader takes values off the front of rest. Once bad, it gives zeros.
type reader struct {
	rest string
	bad  bool
}

func (r *reader) value(v reflect.Value, depth int) {
	if r.bad = r.bad || depth > maxDepth; r.bad {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.byte() == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.varint())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.uvarint())
	case reflect.Float64:
		v.SetFloat(r.float())
	case reflect.String:
		v.SetString(r.string())
	case reflect.Pointer:
		if r.byte() == 1 {
			v.Set(reflect.New(v.Type().Elem()))
			r.value(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if n, ok := r.length(); ok {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			r.list(v, depth)
		}
	case reflect.Array:
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
		r.bad = true
	}
}

func (r *reader) list(v reflect.Value, depth int) {
	for i := range v.Len() {
		r.value(v.Index(i), depth+1)
	}
}

func (r *reader) mapping(v reflect.Value, depth int) {
	n, ok := r.length()
	if !ok {
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
func (r *reader) json(depth int) any {
	switch r.byte() {
	case tagFalse:
		return false
	case tagTrue:
		return true
	case tagString:
		return r.string()
	case tagNumber:
		return json.Number(r.string())
	case tagFloat:
		return r.float()
	case tagInt:
		return int(r.varint())
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
		r.bad = true
	}
	return nil
}

func (r *reader) byte() byte {
	if r.bad = r.bad || r.rest == ""; r.bad {
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) uvarint() uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	r.bad = true
	return 0
}

func (r *reader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *reader) float() float64 {
	if r.bad = r.bad || len(r.rest) < 8; r.bad {
		return 0
	}
	b := []byte(r.rest[:8])
	r.rest = r.rest[8:]
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

func (r *reader) string() string {
	n := r.uvarint()
	if r.bad = r.bad || n > uint64(len(r.rest)); r.bad {
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

// length reads the length of something that is not nil. Nothing can have more
// members than there are bytes left, so a length that lies takes no memory.
func (r *reader) length() (n int, ok bool) {
	u := r.uvarint()
	if r.bad = r.bad || u > uint64(len(r.rest))+1; r.bad || u == 0 {
		return 0, false
	}
	return int(u - 1), true
}
