package sources

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"
)

// speller writes a value as JSON in one of many ways.
type speller struct{ *rand.Rand }

func (s speller) value(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var members []string
		for k, e := range v { // in any order
			members = append(members, s.text(k)+":"+s.value(e))
		}
		return "{" + strings.Join(members, ",") + "}"
	case []any:
		var elements []string
		for _, e := range v {
			elements = append(elements, s.value(e))
		}
		return "[" + strings.Join(elements, ",") + "]"
	case string:
		return s.text(v)
	}
	return fmt.Sprint(v)
}

func (s speller) text(t string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range t {
		short := strings.IndexRune("\b\f\n\r\t\"\\/", r)
		switch n := s.IntN(3); {
		case n == 0 && r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, "\\u%04x\\u%04X", high, low)
		case n == 0:
			fmt.Fprintf(&b, "\\u%04X", r)
		case short >= 0 && (n == 1 || r != '/'):
			b.WriteString(`\` + `bfnrt"\/`[short:short+1])
		case r < ' ':
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// any makes a small value, so that two of them are often the same.
func (s speller) any(depth int) any {
	runes := []rune("a\x00\x1f\n\"\\/\x7f<&\u0085\u00e9\u2028\u2029\ufeff\ufffd\U0001f600,:[]{}")
	word := func() string {
		var t []rune
		for range s.IntN(3) {
			t = append(t, runes[s.IntN(len(runes))])
		}
		return string(t)
	}
	switch n := s.IntN(8); {
	case n == 0 && depth > 0:
		m := make(map[string]any)
		for range s.IntN(4) {
			m[word()] = s.any(depth - 1)
		}
		return m
	case n == 1 && depth > 0:
		all := []any{}
		for range s.IntN(4) {
			all = append(all, s.any(depth-1))
		}
		return all
	case n == 2:
		return json.Number([]string{"0", "-0", "1.0", "1e2", "100", "12345678901234567890"}[s.IntN(6)])
	case n == 3:
		return []any{nil}[0] == nil
	default:
		return word()
	}
}

// The identities of two texts are the same exactly where they mean the same.
func TestTheIdentityIsThatOfTheMeaning(t *testing.T) {
	s := speller{rand.New(rand.NewPCG(3, 7))}
	meaning := func(text string) (v any) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return v
	}
	texts := make(map[identity]string)
	for range 30_000 {
		v := s.any(3)
		a, b := s.value(v), s.value(v)
		if identityOf([]byte(a)) != identityOf([]byte(b)) {
			t.Fatalf("%q and %q have not the same identity", a, b)
		}
		id := identityOf([]byte(a))
		if other, there := texts[id]; there && !reflect.DeepEqual(meaning(a), meaning(other)) {
			t.Fatalf("%q and %q have the same identity", a, other)
		}
		texts[id] = a
	}
	if len(texts) < 1000 || len(texts) > 25_000 {
		t.Errorf("%d different values, which tests little", len(texts))
	}
}
