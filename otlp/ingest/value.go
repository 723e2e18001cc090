package ingest

import (
	"math"
	"strconv"
)

// writer appends values to an event, and stops when that is too long.
type writer struct {
	out   []byte
	limit int  // of out
	over  bool // the limit is passed; out is not shorter than it
}

func (w *writer) full() bool {
	w.over = w.over || len(w.out) > w.limit
	return w.over
}

// text appends a string. Of one that is too long by itself only as much is read as it
// takes to know.
func (w *writer) text(s []byte) {
	if free := w.limit - len(w.out) + 1; len(s) > free {
		s, w.over = s[:max(0, free)], true
	}
	w.out = appendString(w.out, s)
}

func (w *writer) hex(s []byte) {
	if free := w.limit - len(w.out) + 1; len(s) > free {
		s, w.over = s[:max(0, free)], true
	}
	w.out = appendHex(w.out, s)
}

// value appends an AnyValue, which counts as nested so deep.
func (w *writer) value(b []byte, depth int) {
	var set field // the last one that was
	var list merged
	for len(b) > 0 {
		f, n := next(b)
		if n < 0 {
			break
		}
		b = b[n:]
		switch f.tag {
		case valueArray, valueList:
			if set.tag != f.tag {
				list = merged{}
			}
			list.add(f.content)
		case valueString, valueBool, valueInt, valueDouble, valueBytes:
		default:
			continue
		}
		set = f
	}
	switch set.tag {
	case valueString:
		w.text(set.content)
	case valueBytes:
		w.hex(set.content)
	case valueBool:
		w.out = strconv.AppendBool(w.out, set.number != 0)
	case valueInt:
		w.out = strconv.AppendInt(w.out, int64(set.number), 10)
	case valueDouble:
		w.out = appendDouble(w.out, math.Float64frombits(set.number))
	case valueArray:
		w.array(list.content, depth+1)
	case valueList:
		w.object(list.content, depth+1)
	default:
		w.out = append(w.out, "null"...)
	}
}

func (w *writer) array(b []byte, depth int) {
	w.out = append(w.out, '[')
	if depth <= maxDepth {
		for begun := false; len(b) > 0 && !w.full(); {
			f, n := next(b)
			if n < 0 {
				break
			}
			b = b[n:]
			if f.tag != listElement {
				continue
			}
			if begun {
				w.out = append(w.out, ',')
			}
			begun = true
			w.value(f.content, depth)
		}
	}
	w.out = append(w.out, ']')
}

// object appends what is in another value: keys that repeat stay, as in other JSON.
func (w *writer) object(b []byte, depth int) {
	w.out = append(w.out, '{')
	if depth <= maxDepth {
		for begun := false; len(b) > 0 && !w.full(); {
			f, n := next(b)
			if n < 0 {
				break
			}
			b = b[n:]
			if f.tag != listElement {
				continue
			}
			key, value := readPair(f.content)
			if !value.set {
				continue
			}
			if begun {
				w.out = append(w.out, ',')
			}
			begun = true
			w.text(key)
			w.out = append(w.out, ':')
			w.value(value.content, depth)
		}
	}
	w.out = append(w.out, '}')
}
