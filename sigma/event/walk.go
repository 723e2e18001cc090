package event

import "bytes"

// skipSpace returns the position of the next byte that is not white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the position behind the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; ; {
		q := bytes.IndexByte(b[i:], '"')
		end := i + q
		slashes := 0
		for end-1-slashes >= i && b[end-1-slashes] == '\\' {
			slashes++
		}
		i = end + 1
		if slashes%2 == 0 {
			return i
		}
	}
}

// skipValue returns the position behind the value that begins at i.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for ; ; i++ {
			switch b[i] {
			case '"':
				i = skipString(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] != ' ' && b[i] != '\t' && b[i] != '\n' && b[i] != '\r' {
		i++
	}
	return i
}

// Members yields the members of an object in order, keys quoted as received.
func (v Value) Members(yield func(key []byte, member Value) bool) {
	if v.Type != Object {
		return
	}
	b := v.Raw
	i := skipSpace(b, 1)
	for b[i] != '}' {
		end := skipString(b, i)
		key := b[i:end]
		i = skipSpace(b, end)
		i = skipSpace(b, i+1)
		end = skipValue(b, i)
		if !yield(key, ValueOf(b[i:end])) {
			return
		}
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
}

// Elements yields the elements of an array in order.
func (v Value) Elements(yield func(Value) bool) {
	if v.Type != Array {
		return
	}
	b := v.Raw
	i := skipSpace(b, 1)
	for b[i] != ']' {
		end := skipValue(b, i)
		if !yield(ValueOf(b[i:end])) {
			return
		}
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
}

// Member returns the first member of an object that has the key.
func (v Value) Member(key string) (Value, bool) {
	for k, m := range v.Members {
		if KeyIs(k, key) {
			return m, true
		}
	}
	return Value{}, false
}

// KeyIs reports whether a quoted key as received spells name. Keys of ordinary length
// cost no memory.
func KeyIs(quoted []byte, name string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		if string(quoted[1:len(quoted)-1]) == name {
			return true
		}
		if !hasHigh(quoted) {
			return false
		}
	} else if len(quoted)-2 < len(name) && !hasHigh(quoted) {
		return false
	}
	var buf [64]byte
	return string(AppendUnquoted(buf[:0], quoted)) == name
}

func hasHigh(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return true
		}
	}
	return false
}

// Strings calls visit for every string value below v whose level is at most
// limit, v itself being at the given level.
func (v Value) Strings(level, limit int, visit func(Value)) {
	if level > limit {
		return
	}
	switch v.Type {
	case String, Text:
		visit(v)
	case Array:
		for e := range v.Elements {
			e.Strings(level+1, limit, visit)
		}
	case Object:
		for _, m := range v.Members {
			m.Strings(level+1, limit, visit)
		}
	}
}
