package fetch

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/sluicehq/sluice/graph/extract/tree"
	"github.com/sluicehq/sluice/sigma/event"
)

// Bounds of what bytes may become: rows repeat the names of their columns.
const (
	maxGrown = 64 << 20 // bytes, however few they were
	maxGrows = 16       // times the bytes that they were
)

// Decode reads bytes as a format and returns the value as compact JSON. One byte order mark
// in front is left out. The error is an *Error of kind Parse, or ResourceLimit.
func Decode(f Format, data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if at := invalid(data); at >= 0 {
		return nil, fault(Parse, "not UTF-8 (%s)", place(data, at))
	}
	switch f {
	case JSON:
		return shallow(decodeJSON(data))
	case YAML:
		return shallow(decodeYAML(data))
	case Lines:
		return decodeLines(data), nil
	case CSV:
		return decodeCSV(data)
	}
	return nil, fault(Parse, "unknown format '%s'", f)
}

// shallow refuses JSON with too many containers within each other.
func shallow(value []byte, err error) ([]byte, error) {
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > tree.MaxDepth {
				return nil, fault(Parse, "more than %d lists and mappings within each other", tree.MaxDepth)
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return value, err
}

// invalid returns where data stops being UTF-8, or -1.
func invalid(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for at := 0; ; {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
}

// place names the line of a byte.
func place(data []byte, at int) string {
	at = max(0, min(at, len(data)))
	return fmt.Sprintf("line %d", 1+bytes.Count(data[:at], []byte("\n")))
}

// decodeJSON keeps numbers as they are written.
func decodeJSON(data []byte) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 0, len(data)))
	if json.Compact(out, data) == nil {
		return out.Bytes(), nil
	}
	var value json.RawMessage
	err := json.Unmarshal(data, &value) // fails, too, and says where
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return nil, fault(Parse, "invalid JSON: %s (%s)", syntax, place(data, int(syntax.Offset)-1))
	}
	return nil, fault(Parse, "invalid JSON: %v", err)
}

func decodeLines(data []byte) []byte {
	out := append(make([]byte, 0, len(data)+len(data)/8+2), '[')
	for line := range bytes.Lines(data) {
		if cut, ok := bytes.CutSuffix(line, []byte("\n")); ok {
			line = bytes.TrimSuffix(cut, []byte("\r"))
		}
		if bytes.IndexFunc(line, func(r rune) bool { return !unicode.IsSpace(r) }) < 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = event.AppendQuoted(out, line)
	}
	return append(out, ']')
}

func decodeCSV(data []byte) ([]byte, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	header, err := record(r, data)
	if errors.Is(err, io.EOF) {
		return nil, fault(Parse, "no header row")
	}
	if err != nil {
		return nil, err
	}
	columns := columnsOf(header)
	limit := max(maxGrown, maxGrows*len(data))
	out := []byte{'['}
	for {
		row, err := record(r, data)
		switch {
		case errors.Is(err, io.EOF):
			return append(out, ']'), nil
		case err != nil:
			return nil, err
		case len(row) != len(columns):
			line, _ := r.FieldPos(0)
			return nil, fault(Parse, "a row of %d fields under a header of %d (line %d)", len(row), len(columns), line)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, '{')
		for i, name := range columns {
			if name == nil {
				continue
			}
			if out[len(out)-1] != '{' {
				out = append(out, ',')
			}
			out = event.AppendQuoted(append(out, name...), row[i])
		}
		if out = append(out, '}'); len(out) > limit {
			return nil, fault(ResourceLimit, "the rows take more than %d bytes as JSON", limit)
		}
	}
}

// columnsOf returns the beginnings of members, nil for a column whose name comes again.
func columnsOf(header []string) [][]byte {
	columns := make([][]byte, len(header))
	last := make(map[string]int, len(header))
	for i, name := range header {
		last[name] = i
	}
	for name, i := range last {
		columns[i] = append(event.AppendQuoted(nil, name), ':')
	}
	return columns
}

// record returns the next row that is not blank, or io.EOF.
func record(r *csv.Reader, data []byte) ([]string, error) {
	for {
		from := r.InputOffset()
		row, err := r.Read()
		var bad *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case errors.As(err, &bad):
			return nil, fault(Parse, "invalid CSV: %s (line %d)", bad.Err, bad.Line)
		case err != nil:
			return nil, fault(Parse, "invalid CSV: %s", err)
		}
		if len(bytes.TrimSpace(data[from:r.InputOffset()])) > 0 {
			return row, nil
		}
	}
}
