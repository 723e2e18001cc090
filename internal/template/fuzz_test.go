package template

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
)

// sent reads a request back from the wire.
func sent(t *testing.T, wire io.Reader) *http.Request {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(wire))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shape is the tokens of a JSON document without its texts, or nil if it is none.
func shape(doc []byte) []any {
	if !json.Valid(doc) {
		return nil
	}
	var out []any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	for {
		switch token, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			return nil
		default:
			if _, is := token.(string); is {
				token = "text"
			}
			out = append(out, token)
		}
	}
}

// A value is read back as it was from JSON, a URL and a header.
func FuzzValuesAreReadBackAsTheyWere(f *testing.F) {
	for _, p := range payloads {
		f.Add(p.value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		checkJSON(t, value, map[string]string{"E": value})
		checkURL(t, value)
		checkHeader(t, value)
		checkExpression(t, value)
	})
}

// What a template makes of a harmless value and of any other are documents of one
// shape.
func FuzzNoValueChangesTheShapeOfADocument(f *testing.F) {
	for _, p := range payloads {
		f.Add(`{"a":"\\${v.text}","b":[${v.text},"\${E}${v.text}"],"${v.text}":${E}}`, p.value)
		f.Add(`"${}\"${v.text}`+`${E}"`, p.value)
	}
	f.Fuzz(func(t *testing.T, source, value string) {
		env := map[string]string{"E": "x"}
		parsed, err := Parse(source, "body", rules(env))
		if err != nil {
			t.Skip()
		}
		harmless := shape(parsed.Append(nil, JSON, "x"))
		if harmless == nil {
			t.Skip()
		}
		env["E"] = value
		got := parsed.Append(nil, JSON, text(value))
		if s := shape(got); len(s) != len(harmless) {
			t.Fatalf("%q with %q is %s", source, value, got)
		} else {
			for i := range s {
				if s[i] != harmless[i] {
					t.Fatalf("%q with %q is %s: token %d is %v, with a harmless value %v", source, value, got, i, s[i], harmless[i])
				}
			}
		}
	})
}
