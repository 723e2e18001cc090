package logging

import (
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// The attributes that are no fields of a line: the name of the part that
// speaks, and the span it speaks from.
const (
	targetKey = "target"
	spanKey   = "span"
)

// Format is how a line is written.
type Format string

// The formats of --log-format.
const (
	Text Format = "text"
	JSON Format = "json"
)

// New returns the root logger. Target gives each part its own.
func New(w io.Writer, format Format, filter Filter) *slog.Logger {
	return newLogger(w, format, filter)
}

func newLogger(w io.Writer, format Format, filter enabler) *slog.Logger {
	return slog.New(&handler{out: &output{w: w}, format: format, filter: filter, target: "sluice"})
}

// enabler decides which lines are written: a Filter, or a *Level.
type enabler interface {
	Enabled(target string, level slog.Level) bool
}

// Discard returns a logger for commands nobody asked to log.
func Discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Target returns a logger that speaks as the part name, such as
// "sluice.reload".
func Target(l *slog.Logger, name string) *slog.Logger { return l.With(targetKey, name) }

// Span returns a logger whose lines belong to a span, inside of those the
// logger already has. Only load_rules, resolve_source and otlp_ingest exist.
func Span(l *slog.Logger, name string, attrs ...slog.Attr) *slog.Logger {
	return slog.New(l.Handler().WithAttrs([]slog.Attr{{
		Key: spanKey, Value: slog.GroupValue(append([]slog.Attr{slog.String("name", name)}, attrs...)...),
	}}))
}

// output is shared by every handler of a process; the lock keeps lines whole.
type output struct {
	mu sync.Mutex // guards w and buf
	w  io.Writer
	b  []byte
}

// handler implements slog.Handler. It is immutable.
type handler struct {
	out    *output
	format Format
	filter enabler
	target string
	spans  [][]slog.Attr // outermost first
	attrs  []slog.Attr
	group  string // prefix of attribute names, with its dot
}

// Enabled asks the filter.
func (h *handler) Enabled(_ context.Context, level slog.Level) bool {
	return h.filter.Enabled(h.target, level)
}

// WithAttrs keeps attributes for every later line; a target or a span changes
// the line itself.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = slices.Clip(h.attrs)
	for _, a := range attrs {
		switch {
		case a.Key == targetKey && h.group == "":
			c.target = a.Value.String()
		case a.Key == spanKey && a.Value.Kind() == slog.KindGroup:
			c.spans = append(slices.Clip(c.spans), a.Value.Group())
		default:
			a.Key = h.group + a.Key
			c.attrs = append(c.attrs, a)
		}
	}
	return &c
}

// WithGroup prefixes the names of later attributes.
func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	c := *h
	c.group += name + "."
	return &c
}

// Handle writes one line.
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	attrs := slices.Clip(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		a.Key = h.group + a.Key
		attrs = append(attrs, a)
		return true
	})
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	h.out.b = h.append(h.out.b[:0], r, attrs)
	_, err := h.out.w.Write(h.out.b)
	return err
}

// append appends the line of a record.
func (h *handler) append(b []byte, r slog.Record, attrs []slog.Attr) []byte {
	if h.format == JSON {
		b = h.appendJSON(b, r, attrs)
	} else {
		b = h.appendText(b, r, attrs)
	}
	return append(b, '\n')
}

func (h *handler) appendJSON(b []byte, r slog.Record, attrs []slog.Attr) []byte {
	b = append(b, `{"timestamp":"`...)
	b = r.Time.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	b = append(b, `","level":"`...)
	b = append(b, levelName(r.Level)...)
	b = append(b, `","target":`...)
	b = appendValue(b, slog.StringValue(h.target))
	b = append(b, `,"fields":{"message":`...)
	b = appendValue(b, slog.StringValue(r.Message))
	b = appendAttrs(b, "", attrs)
	b = append(b, '}')
	if len(h.spans) > 0 {
		b = append(b, `,"span":`...)
		b = appendSpan(b, h.spans[len(h.spans)-1])
		b = append(b, `,"spans":[`...)
		for i, s := range h.spans {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendSpan(b, s)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func appendSpan(b []byte, attrs []slog.Attr) []byte {
	b = append(b, '{')
	start := len(b)
	b = appendAttrs(b, "", attrs)
	if len(b) > start { // drop the comma appendAttrs begins with
		b = append(b[:start], b[start+1:]...)
	}
	return append(b, '}')
}

// appendAttrs writes `,"name":value` for each attribute; groups become dotted
// names.
func appendAttrs(b []byte, prefix string, attrs []slog.Attr) []byte {
	for _, a := range attrs {
		v := a.Value.Resolve()
		if v.Kind() == slog.KindGroup {
			below := prefix
			if a.Key != "" {
				below += a.Key + "."
			}
			b = appendAttrs(b, below, v.Group())
			continue
		}
		if a.Key == "" {
			continue
		}
		b = append(b, ',')
		b = appendValue(b, slog.StringValue(prefix+a.Key))
		b = append(b, ':')
		b = appendValue(b, v)
	}
	return b
}

// appendValue writes a resolved value as JSON: numbers and booleans as such,
// everything else as text unless it says how to be JSON.
func appendValue(b []byte, v slog.Value) []byte {
	var x any
	switch v.Kind() {
	case slog.KindString:
		x = v.String()
	case slog.KindDuration:
		x = v.Duration().String()
	case slog.KindTime:
		x = v.Time().UTC().Format(time.RFC3339Nano)
	default:
		x = v.Any()
		switch known := x.(type) {
		case error:
			x = known.Error()
		case json.Marshaler, encoding.TextMarshaler:
		case fmt.Stringer:
			x = known.String()
		}
	}
	var s strings.Builder
	enc := json.NewEncoder(&s)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return appendValue(b, slog.StringValue(fmt.Sprintf("%+v", x)))
	}
	return append(b, strings.TrimSuffix(s.String(), "\n")...)
}

// appendText writes a line for people; only values that need quotes get them.
func (h *handler) appendText(b []byte, r slog.Record, attrs []slog.Attr) []byte {
	b = r.Time.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	b = fmt.Appendf(b, " %5s %s: %s", levelName(r.Level), h.target, r.Message)
	for _, s := range h.spans {
		attrs = append(attrs[:len(attrs):len(attrs)], slog.Attr{Key: spanKey, Value: slog.GroupValue(s...)})
	}
	return appendPairs(b, "", attrs)
}

func appendPairs(b []byte, prefix string, attrs []slog.Attr) []byte {
	for _, a := range attrs {
		v := a.Value.Resolve()
		if v.Kind() == slog.KindGroup {
			below := prefix
			if a.Key != "" {
				below += a.Key + "."
			}
			b = appendPairs(b, below, v.Group())
			continue
		}
		if a.Key == "" {
			continue
		}
		text := v.String()
		if text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, needsQuotes) {
			text = fmt.Sprintf("%q", text)
		}
		b = append(b, ' ')
		b = append(b, prefix...)
		b = append(b, a.Key...)
		b = append(b, '=')
		b = append(b, text...)
	}
	return b
}

// needsQuotes reports whether a character would end a value, or move or hide what
// stands around it on a terminal.
func needsQuotes(r rune) bool { return r == ' ' || r == '"' || r == '=' || !strconv.IsPrint(r) }
