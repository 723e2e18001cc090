package fetch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sluicehq/sluice/internal/filetest"
	"github.com/sluicehq/sluice/sources/fetch"
)

// checked decodes, and checks what holds for every input.
func checked(t *testing.T, f fetch.Format, data []byte) []byte {
	t.Helper()
	before := bytes.Clone(data)
	out, err := fetch.Decode(f, data)
	if !bytes.Equal(data, before) {
		t.Error("the input was changed")
	}
	var e *fetch.Error
	switch {
	case err != nil && (!errors.As(err, &e) || e.Kind != fetch.Parse && e.Kind != fetch.ResourceLimit || e.Detail == "" || out != nil):
		t.Errorf("got %s and %v", out, err)
	case err == nil && (!json.Valid(out) || !utf8.Valid(out)):
		t.Errorf("%q is no JSON", out)
	case err == nil:
		var compact bytes.Buffer
		if json.Compact(&compact, out) != nil || !bytes.Equal(compact.Bytes(), out) {
			t.Errorf("%q is not compact", out)
		}
		if again, err := fetch.Decode(fetch.JSON, out); err != nil || !bytes.Equal(again, out) {
			t.Errorf("%q read as JSON: %q, %v", out, again, err)
		}
	}
	return out
}

func FuzzDecodeJSON(f *testing.F) {
	for _, text := range []string{"", "null", "\xef\xbb\xbf[1, 2.50]", `{"a":[1,{"b":"\u00e9"}]} x`, `"\ud800"`, "1e999", strings.Repeat("[", 200)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		out := checked(t, fetch.JSON, data)
		if valid := json.Valid(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))); out != nil && !valid {
			t.Errorf("%q is taken for JSON", data)
		}
	})
}

func FuzzDecodeYAML(f *testing.F) {
	for _, text := range []string{"", "a: 1\n---\nb: 2\n", "1: a\n\"1\": b\n", "? [a, {b: c}]\n: x\n", "a: &x [*x]\n", "[.nan, 2026-03-10, 0x1F, !t 5]", laughs(7), "a: |\n  b\n  c\n", "- - - x", "{a: b, a: c}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checked(t, fetch.YAML, data) })
}

func FuzzDecodeLines(f *testing.F) {
	for _, text := range []string{"", "a\r\n \n# c\nb", "\x00\"\\", "\u2028\n\u0085\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		out := checked(t, fetch.Lines, data)
		var want []string
		for _, line := range strings.SplitAfter(strings.TrimPrefix(string(data), "\xef\xbb\xbf"), "\n") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			if whole, ok := strings.CutSuffix(line, "\n"); ok {
				line = strings.TrimSuffix(whole, "\r")
			}
			want = append(want, line)
		}
		var got []string
		if out != nil && (json.Unmarshal(out, &got) != nil || strings.Join(got, "\n|") != strings.Join(want, "\n|")) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func FuzzDecodeCSV(f *testing.F) {
	for _, text := range []string{"", "h,o\ns1,ann\n", "h,o\ns1\n", "h,h\n\"a\"\"b\",\"c\nd\"\n", "h\n\n \n\"\"\n", "h\r\n1\r\n", "\"h"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var rows []map[string]string
		if out := checked(t, fetch.CSV, data); out != nil && json.Unmarshal(out, &rows) != nil {
			t.Errorf("%s is no list of objects of text", out)
		}
	})
}

func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"", "sources: []", "sources:\n- {id: a, type: file, path: f, format: json}\n", "x: 1\nsources: [5, {id: a}, {id: a, type: ftp}]\n",
		"sources:\n- id: a\n  type: http\n  url: https://h/x\n  format: csv\n  headers: {A: 1.10, B: ~}\n  body: x\n  refresh: 5m\n  on_error: use_default\n  default: {1: [a]}\n",
		"sources:\n- &x {id: a, type: command, command: [a, 1.50, true], format: lines, timeout: 1d, extract: {type: cel, expr: data.x}}\n- *x\n",
		"sources:\n- {id: a, type: nats, url: 'tls://h:1', subject: x.y, format: yml, refresh: push, required: false}\n",
	} {
		f.Add([]byte(text))
	}
	file := filetest.New(f, "s.yml")
	f.Fuzz(func(t *testing.T, data []byte) {
		file.Hold(t, data)
		all, _, err := fetch.Load([]string{file.Path})
		var load *fetch.LoadError
		if err != nil && (!errors.As(err, &load) || len(load.Faults) == 0 || all != nil) {
			t.Errorf("got %d declarations, %v", len(all), err)
		}
		ids := make(map[string]bool)
		for _, d := range all {
			if ids[d.ID] || d.Format == "" || d.Timeout <= 0 || d.File != file.Path || d.Line < 1 || d.Default != nil && !json.Valid(d.Default) || len(d.Fingerprint()) != 64 || d.Refresh.String() == "" {
				t.Errorf("got %+v", d)
			}
			ids[d.ID] = true
		}
	})
}
