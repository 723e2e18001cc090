package frame

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// valuesOf gives the stream to a scanner in pieces of a size.
func valuesOf(t *testing.T, stream string, size int) (values []string) {
	t.Helper()
	var s Scanner
	var value []byte
	for rest := []byte(stream); len(rest) > 0; {
		b := rest[:min(size, len(rest))]
		rest = rest[len(b):]
		for len(b) > 0 {
			if !s.Open() {
				if b = b[s.Skip(b):]; len(b) == 0 {
					break
				}
			}
			n, whole := s.Take(b)
			value, b = append(value, b[:n]...), b[n:]
			if whole && bytes.ContainsAny(value, "\r\n") && !s.Broken() {
				t.Fatalf("no line break is noted in %q", value)
			}
			if whole {
				values, value = append(values, string(bytes.TrimSpace(value))), value[:0]
			} else if len(b) > 0 {
				t.Fatalf("%d bytes are neither of the value nor behind it", len(b))
			}
		}
	}
	if s.Open() {
		values = append(values, string(bytes.TrimSpace(value)))
	}
	return values
}

func TestValuesOfAStream(t *testing.T) {
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	for _, tc := range []struct {
		name   string
		stream string
		want   []string
	}{
		{"an empty stream has none", "", nil},
		{"white space alone has none", " \r\n\t", nil},
		{"a value", `{"a":1}`, []string{`{"a":1}`}},
		{"values one behind the other", `{"a":1}{"b":2} {"c":3}` + "\n" + `{"d":4}`, []string{`{"a":1}`, `{"b":2}`, `{"c":3}`, `{"d":4}`}},
		{"an array stands for its elements", `[{"a":1},{"a":2}]`, []string{`{"a":1}`, `{"a":2}`}},
		{"an array over many lines", "[\n  {\n    \"a\": 1\n  },\n  {\n    \"a\": 2\n  }\n]\n", []string{"{\n    \"a\": 1\n  }", "{\n    \"a\": 2\n  }"}},
		{"arrays and values in turn", `{"a":1}[{"b":2},7]{"c":3}[]["x"]`, []string{`{"a":1}`, `{"b":2}`, `7`, `{"c":3}`, `"x"`}},
		{"an array in an array is a value", `[[1,[2]],[]]`, []string{`[1,[2]]`, `[]`}},
		{"an empty array has none", `[]`, nil},
		{"scalars", `7 true"x"null -1.5e3`, []string{`7`, `true`, `"x"`, `null`, `-1.5e3`}},
		{"scalars in an array", "[7 , true,\"x\"\n,null]", []string{`7`, `true`, `"x"`, `null`}},
		{"brackets in strings do not count", `[{"a":"]}"},{"b":"[{\""}]`, []string{`{"a":"]}"}`, `{"b":"[{\""}`}},
		{"escapes in strings", `{"a":"\\"}{"b":"\\\""}`, []string{`{"a":"\\"}`, `{"b":"\\\""}`}},
		{"many backslashes", `{"a":"\\\\\\\\\\\""}{"b":"C:\\x\\"}{"c":"\\\\\\"}`, []string{`{"a":"\\\\\\\\\\\""}`, `{"b":"C:\\x\\"}`, `{"c":"\\\\\\"}`}},
		{"line breaks in strings", "{\"a\":\"x\ny\"}\n{\"b\":\"123456789\\\n\"}", []string{"{\"a\":\"x\ny\"}", "{\"b\":\"123456789\\\n\"}"}},
		{"commas without a value are skipped", `[,{"a":1},,{"b":2},],`, []string{`{"a":1}`, `{"b":2}`}},
		{"what is broken stays one value", `[{"a":1},{bad},{"a":3}]`, []string{`{"a":1}`, `{bad}`, `{"a":3}`}},
		{"so does text in an array", `[{"a":1},not json at all,{"a":3}]`, []string{`{"a":1}`, `not json at all`, `{"a":3}`}},
		{"a bracket that closes nothing is a value", `]{"a":1}}[{"b":2}}]`, []string{`]`, `{"a":1}`, `}`, `{"b":2}`, `}`}},
		{"a missing bracket harms its own value", `[{"a":[1},{"b":2}]`, []string{`{"a":[1}`, `{"b":2}`}},
		{"and ends where the array does", `[{"a":{"b":1},{"c":3}]{"d":4}`, []string{`{"a":{"b":1},{"c":3}`, `{"d":4}`}},
		{"a bracket too many in a value", `[{"a":1]},{"b":2}]`, []string{`{"a":1`, `}`, `{"b":2}`, `]`}},
		{"a stream that ends inside a value", `[{"a":1},{"a":2`, []string{`{"a":1}`, `{"a":2`}},
		{"a stream that ends inside a string", `{"a":"x`, []string{`{"a":"x`}},
		{"a stream that ends behind a backslash", `{"a":"x\`, []string{`{"a":"x\`}},
		{"a stream that ends between values", `[{"a":1},`, []string{`{"a":1}`}},
		{"nesting without a bound", deep + "{}", []string{deep[1 : len(deep)-1], "{}"}},
		{"broken nesting without a bound", strings.Repeat("{", 1000) + strings.Repeat("]", 1000), []string{strings.Repeat("{", 1000) + strings.Repeat("]", 1000)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 7, 8, 9, 1 << 20} {
				if got := valuesOf(t, tc.stream, size); !slices.Equal(got, tc.want) {
					t.Errorf("in pieces of %d bytes: got %.100q, want %.100q", size, got, tc.want)
				}
			}
		})
	}
}

func TestTopLevelArraysMayBeWhole(t *testing.T) {
	s := Scanner{Whole: true}
	b := []byte(`[{"a":1},{"b":2}]{}`)
	if n, whole := s.Take(b); n != len(b)-2 || !whole {
		t.Errorf("the first value has %d bytes (%t), want %d", n, whole, len(b)-2)
	}
}

// decoded are the values that the standard library finds, or false when it finds a fault.
func decoded(stream []byte) (values []string, ok bool) {
	for d := json.NewDecoder(bytes.NewReader(stream)); ; {
		var value json.RawMessage
		switch err := d.Decode(&value); {
		case errors.Is(err, io.EOF):
			return values, true
		case err != nil:
			return nil, false
		case value[0] != '[':
			values = append(values, string(value))
			continue
		}
		var elements []json.RawMessage
		if err := json.Unmarshal(value, &elements); err != nil {
			return nil, false
		}
		for _, e := range elements {
			values = append(values, string(e))
		}
	}
}

// However a stream arrives, its values are the same; those of a stream of JSON are what
// the standard library finds in it.
func FuzzValues(f *testing.F) {
	for _, s := range []string{
		`{"a":1}{"b":[1,2,{"c":"]"}]} 7 [1,[2],"x"]`, `[{"a":"\\\""},` + "\n" + `{"b":"}"}]`, `[]]}{[}`, `{"a":"\`, `"x"1 2`, `[ 1 , tr ue ]`,
	} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(5))
	}
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		got := valuesOf(t, string(stream), len(stream)+1)
		if parts := valuesOf(t, string(stream), 1+int(size%16)); !slices.Equal(got, parts) {
			t.Errorf("whole %q, in pieces %q", got, parts)
		}
		want, ok := decoded(stream)
		if ok && !runsTogether(want) && !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// runsTogether reports whether values may stand without a separator that need one here:
// the standard library takes 1-2 and truefalse for two.
func runsTogether(values []string) bool {
	for i := 1; i < len(values); i++ {
		if isBare(values[i-1]) && isBare(values[i]) {
			return true
		}
	}
	return false
}

func isBare(value string) bool { return !strings.Contains(`"{[`, value[:1]) }

func TestDeepFaultsTakeLinearTime(t *testing.T) {
	// A search for the bracket to close would take a second for each of these.
	for _, s := range []string{strings.Repeat("{", 200) + strings.Repeat("]", 1<<20), strings.Repeat("{[", 1<<19) + strings.Repeat("}", 1<<19)} {
		if got := valuesOf(t, s, 64<<10); len(got) == 0 {
			t.Error("no value at all")
		}
	}
}

// events makes objects as they come from Windows.
func events(n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([][]byte, n)
	for i := range out {
		out[i] = fmt.Appendf(nil, `{"EventID":%d,"Channel":"Microsoft-Windows-Sysmon/Operational","Computer":"host%02d.example.com","Image":"C:\\Windows\\System32\\cmd%d.exe","CommandLine":"\"C:\\Windows\\cmd.exe\" /c echo %d","ProcessId":%d,"Hashes":{"SHA256":"%064x"},"UtcTime":"2026-01-02 03:04:05.678"}`,
			r.IntN(30), r.IntN(99), r.IntN(9), r.Uint64(), r.IntN(1<<16), r.Uint64())
	}
	return out
}

func BenchmarkValues(b *testing.B) {
	lines := bytes.Join(events(10_000), []byte(","))
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, append(append([]byte("["), lines...), ']'), "", "  "); err != nil {
		b.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		stream []byte
	}{{"compact", append(append([]byte("["), lines...), ']')}, {"indented", pretty.Bytes()}} {
		b.Run(tc.name, func(b *testing.B) {
			b.SetBytes(int64(len(tc.stream)))
			b.ReportAllocs()
			for b.Loop() {
				var s Scanner
				n := 0
				for rest := tc.stream; len(rest) > 0; n++ {
					rest = rest[s.Skip(rest):]
					size, _ := s.Take(rest)
					rest = rest[size:]
				}
				if n < 10_000 {
					b.Fatal("values are missing")
				}
			}
		})
	}
}
