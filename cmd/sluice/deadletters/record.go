package deadletters

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/event"
)

// Record is one dead letter of a file.
type Record struct {
	Number   int    // of its line, counted through all files
	File     string // as it was named
	Line     int    // of File
	Original string
	Error    string
	Time     time.Time
	Stage    string
	Sink     string // of a failed delivery
	Attempts int    // of a failed delivery
}

// Delivery reports whether it is about results that a sink could not deliver. All others
// hold a line that came in.
func (r *Record) Delivery() bool { return r.Stage == sink.StageDelivery }

// parse reads a line of a file of dead letters.
func parse(line []byte) (Record, error) {
	var in struct {
		Original *string    `json:"original_event"`
		Error    *string    `json:"error"`
		Time     *time.Time `json:"timestamp"`
		Stage    *string    `json:"stage"`
		Sink     string     `json:"sink"`
		Attempts int        `json:"attempts"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return Record{}, fmt.Errorf("not JSON at byte %d: %w", syntax.Offset, err)
		}
		return Record{}, err
	}
	for _, m := range []struct {
		key     string
		missing bool
	}{
		{"original_event", in.Original == nil}, {"error", in.Error == nil}, {"timestamp", in.Time == nil}, {"stage", in.Stage == nil || *in.Stage == ""},
	} {
		if m.missing {
			return Record{}, fmt.Errorf("%s is missing", m.key)
		}
	}
	return Record{Original: *in.Original, Error: *in.Error, Time: *in.Time, Stage: *in.Stage, Sink: in.Sink, Attempts: in.Attempts}, nil
}

// AppendJSON appends the record as one JSON object: where it stands, and then the
// members of the file.
func (r *Record) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"number":`...)
	dst = strconv.AppendInt(dst, int64(r.Number), 10)
	dst = append(dst, `,"file":`...)
	dst = event.AppendQuoted(dst, r.File)
	dst = append(dst, `,"line":`...)
	dst = strconv.AppendInt(dst, int64(r.Line), 10)
	at := len(dst)
	dst = sink.AppendDeadLetter(dst, graph.DeadLetter{
		Original: []byte(r.Original), Error: r.Error, Stage: r.Stage, Sink: r.Sink, Attempts: r.Attempts,
	}, r.Time)
	dst[at] = ','
	return dst
}

// results are the native lines that a failed delivery left behind: a list of results, or
// one record.
func (r *Record) results() ([][]byte, error) {
	text := bytes.TrimSpace([]byte(r.Original))
	if !json.Valid(text) {
		return nil, errors.New("original_event holds no results: it is not JSON")
	}
	list := []json.RawMessage{text}
	switch text[0] {
	case '[':
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
	case '{':
	default:
		return nil, errors.New("original_event holds no results: it is neither a list nor an object")
	}
	lines := make([][]byte, 0, len(list))
	for i, raw := range list {
		if raw[0] != '{' {
			return nil, fmt.Errorf("original_event holds no results: value %d is no object", i+1)
		}
		lines = append(lines, oneLine(raw))
	}
	return lines, nil
}

// oneLine takes the line breaks out of a JSON value.
func oneLine(raw []byte) []byte {
	if !bytes.ContainsAny(raw, "\r\n") {
		return raw
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return raw
	}
	return b.Bytes()
}

// line is the raw line that a record holds, in a form in which a body of lines may carry it.
func (r *Record) line() ([]byte, error) {
	line := []byte(r.Original)
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return nil, errors.New("original_event is blank, and would come in as no line")
	case !bytes.ContainsAny(line, "\r\n"):
		return line, nil
	}
	if !json.Valid(line) {
		return nil, errors.New("original_event holds a line break, and would come in as several lines")
	}
	return oneLine(line), nil
}
