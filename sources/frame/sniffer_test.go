package frame

import (
	"strings"
	"testing"
)

func TestSniffer(t *testing.T) {
	const limit = 1 << 10
	long := `"` + strings.Repeat("x", limit) + `"`
	for _, tc := range []struct {
		name string
		text string
		want bool
	}{
		{"objects, one a line", "{\"a\":1}\n{\"a\":2}\n", false},
		{"plain text", "hello\n{\n\"a\":1}\n", false},
		{"a text in brackets", "[INFO] started\n[INFO] stopped\n", false},
		{"a number in brackets", "[12] started\n[13] stopped\n", false},
		{"a text in brackets that close later", "[2026-01-02 started\nstopped]\n", false},
		{"an array on a line", "[{\"a\":1},{\"a\":2}]\n[{\"a\":3}]\n", false},
		{"a line with something behind its value", "{\"a\":1} x\n{\"b\":2}\n", false},
		{"an indented object", "{\n  \"a\": 1\n}\n", true},
		{"an object that ends in the last line", "{\"a\":\n1}", true},
		{"an array, one object a line", "[{\"a\":1},\n{\"a\":2}]\n", true},
		{"an indented array", "[\n  {\n    \"a\": 1\n  }\n]", true},
		{"an array of nothing over two lines", "[\n]\n", true},
		{"an array of nothing over two lines with a text behind it", "[\n]\"{ :1}\\H\"\n", true},
		{"objects that are all cut off", strings.Repeat("{\"a\":\n", 48) + "{\"a\":1}\n", false},
		{"one line that is cut off", "{\"a\":1", false},
		{"one line that is cut off behind an element", "[{\"a\":1},", false},
		{"a value that is no JSON", "{\n  a: 1\n}\n", false},
		{"a first element that is no JSON", "[\n  {a: 1},\n  {\"a\":1}\n]\n", false},
		{"a value that is too long", "{\n\"a\":" + long + "}\n", false},
		{"an array on a line that is too long", "[{\"a\":1}," + long + "]\n", true},
		{"objects on a line that is too long", strings.Repeat("{\"a\":1}", limit), true},
		{"text on a line that is too long", "[INFO] " + long + "\n", false},
		{"an element that is too long", "[{\"a\":" + long + "}]\n", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, size := range []int{1, 3, 1 << 20} {
				s := Sniffer{Limit: limit}
				for n := 0; ; n += size {
					n = min(n, len(tc.text))
					got, decided := s.Decide([]byte(tc.text[:n]), n == len(tc.text))
					if !decided && n == len(tc.text) {
						t.Fatal("the end of the text decides nothing")
					}
					if !decided {
						continue
					}
					if got != tc.want {
						t.Errorf("in steps of %d bytes: got %t behind %d bytes, want %t", size, got, n, tc.want)
					}
					break
				}
			}
		})
	}
}

func TestAWholeLineDecidesAtOnce(t *testing.T) {
	for _, line := range []string{"{\"a\":1}\n", "[{\"a\":1}]\n", "x", "[x] y\n"} {
		if _, decided := (&Sniffer{Limit: 1 << 20}).Decide([]byte(line), false); !decided {
			t.Errorf("%q is not enough", line)
		}
	}
}
