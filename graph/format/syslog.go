package format

import (
	"strings"
	"time"

	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/event"
)

// syslogMessage is a syslog line in its parts. Absent parts are empty.
type syslogMessage struct {
	timestamp, host, app, procid, msgid string
	facility, severity                  string
	data                                []event.Pair // "<id>.<name>"
	text                                string
}

var facilities = [...]string{
	"LOG_KERN", "LOG_USER", "LOG_MAIL", "LOG_DAEMON", "LOG_AUTH", "LOG_SYSLOG", "LOG_LPR", "LOG_NEWS",
	"LOG_UUCP", "LOG_CRON", "LOG_AUTHPRIV", "LOG_FTP", "LOG_NTP", "LOG_AUDIT", "LOG_ALERT", "LOG_CLOCKD",
	"LOG_LOCAL0", "LOG_LOCAL1", "LOG_LOCAL2", "LOG_LOCAL3", "LOG_LOCAL4", "LOG_LOCAL5", "LOG_LOCAL6", "LOG_LOCAL7",
}

var severities = [...]string{
	"SEV_EMERG", "SEV_ALERT", "SEV_CRIT", "SEV_ERR", "SEV_WARNING", "SEV_NOTICE", "SEV_INFO", "SEV_DEBUG",
}

// syslog decodes a line of the format syslog, which every line has: one that is
// neither RFC 5424 nor RFC 3164 is an event with the field _raw.
func (d *Decoder) syslog(w *engine.Worker, ev *engine.Events, line []byte, arrival int64) {
	text := string(line)
	m, ok := parseSyslog(text, d.zone(), arrival)
	if !ok {
		w.DecodePairs(ev, []event.Pair{{Key: "_raw", Value: strings.TrimSpace(text)}})
		return
	}
	d.message(w, ev, m)
}

// message decodes a parsed line: a message that is a JSON object is the event,
// with the header added to it; else the parts are its fields.
func (d *Decoder) message(w *engine.Worker, ev *engine.Events, m syslogMessage) {
	if !d.KeepBOM {
		m.text = strings.TrimPrefix(m.text, "\ufeff")
	}
	m.text = strings.TrimSpace(m.text)
	if strings.HasPrefix(m.text, "{") {
		n := ev.Len()
		if w.DecodeJSON(ev, []byte(m.text)) == nil {
			doc := m.document(ev.Root(n))
			ev.Truncate(n)
			if d.Value(w, ev, doc) == nil {
				return
			}
		}
	}
	w.DecodePairs(ev, m.pairs())
}

// header lists the parts that are there, in order, named as fields.
func (m *syslogMessage) header() []event.Pair {
	parts := [...]event.Pair{
		{Key: "timestamp", Value: m.timestamp},
		{Key: "hostname", Value: m.host},
		{Key: "appname", Value: m.app},
		{Key: "procid", Value: m.procid},
		{Key: "msgid", Value: m.msgid},
		{Key: "facility", Value: m.facility},
		{Key: "severity", Value: m.severity},
	}
	there := make([]event.Pair, 0, len(parts)+len(m.data)+1)
	for _, p := range parts {
		if p.Value != "" {
			there = append(there, p)
		}
	}
	return there
}

func (m *syslogMessage) pairs() []event.Pair {
	pairs := append(m.header(), m.data...)
	if m.text != "" {
		pairs = append(pairs, event.Pair{Key: "_raw", Value: m.text})
	}
	return pairs
}

// document is the JSON object of the message with the header behind its own
// members. A key it already has is not added.
func (m *syslogMessage) document(object event.Value) []byte {
	doc := append([]byte(nil), m.text[:len(m.text)-1]...)
	empty := true
	for range object.Members {
		empty = false
		break
	}
	has := keysOf(object, len(m.data))
	add := func(key, value string) {
		if has(key) {
			return
		}
		if !empty {
			doc = append(doc, ',')
		}
		empty = false
		doc = append(event.AppendQuoted(doc, key), ':')
		doc = event.AppendQuoted(doc, value)
	}
	for _, p := range m.header() {
		add("syslog_"+p.Key, p.Value)
	}
	for _, p := range m.data {
		add("sd."+p.Key, p.Value)
	}
	return append(doc, '}')
}

// fewLookups is how many keys are looked for in an object by reading it.
const fewLookups = 16

// keysOf returns the function that reports whether an object has a key. It is made for
// about so many lookups.
func keysOf(object event.Value, lookups int) func(key string) bool {
	if lookups <= fewLookups {
		return func(key string) bool {
			for k := range object.Members {
				if event.KeyIs(k, key) {
					return true
				}
			}
			return false
		}
	}
	keys := make(map[string]struct{})
	for k := range object.Members {
		keys[string(event.AppendUnquoted(nil, k))] = struct{}{}
	}
	return func(key string) bool {
		_, ok := keys[key]
		return ok
	}
}

// parseSyslog takes a line apart by RFC 5424, else by RFC 3164.
func parseSyslog(line string, zone *time.Location, arrival int64) (syslogMessage, bool) {
	var m syslogMessage
	rest, ok := m.priority(strings.TrimSpace(line))
	if !ok {
		return m, false
	}
	if modern := m; modern.rfc5424(rest) {
		return modern, true
	}
	ok = m.rfc3164(rest, zone, arrival)
	return m, ok
}

// priority reads "<n>". It fails only for one that is begun and not well formed.
func (m *syslogMessage) priority(s string) (rest string, ok bool) {
	if !strings.HasPrefix(s, "<") {
		return s, true
	}
	digits, rest, found := strings.Cut(s[1:], ">")
	n, ok := number(digits, 1, 3)
	if !found || !ok || n > 255 {
		return "", false
	}
	if n/8 < len(facilities) {
		m.facility = facilities[n/8]
	}
	m.severity = severities[n%8]
	return rest, true
}

func (m *syslogMessage) rfc5424(s string) bool {
	version, rest := cutWord(s)
	if _, ok := number(version, 1, 9); !ok {
		return false
	}
	word, rest := cutWord(rest)
	if word != "-" {
		at, err := time.Parse(time.RFC3339Nano, word)
		if err != nil {
			return false
		}
		m.timestamp = render(at)
	}
	for _, part := range []*string{&m.host, &m.app, &m.procid, &m.msgid} {
		if word, rest = cutWord(rest); word == "" {
			return false
		}
		*part = present(word)
	}
	switch {
	case rest == "-" || strings.HasPrefix(rest, "- "):
		rest = rest[1:]
	case strings.HasPrefix(rest, "["):
		for strings.HasPrefix(rest, "[") {
			pairs, after, ok := element(rest)
			if !ok {
				_, after, ok = strings.Cut(rest, "]")
				if !ok {
					return false
				}
			}
			m.data = append(m.data, pairs...)
			rest = after
		}
	default:
		return false
	}
	m.text = strings.TrimLeft(rest, " ")
	return true
}

func (m *syslogMessage) rfc3164(s string, zone *time.Location, arrival int64) bool {
	var ok bool
	var rest string
	if m.timestamp, rest, ok = stamp(strings.TrimLeft(s, " "), zone, arrival); !ok {
		return false
	}
	host, rest := cutWord(rest)
	if name, ended := strings.CutSuffix(host, ":"); ended {
		m.onlyToken(name)
		m.body(rest)
		return true
	}
	tag := rest
	if i := strings.IndexAny(rest, " \t:"); i >= 0 {
		tag, rest = rest[:i], strings.TrimPrefix(rest[i:], ":")
	} else {
		rest = ""
	}
	if tag == "" && rest == "" {
		m.onlyToken(host)
		return true
	}
	m.host = present(host)
	m.tag(tag)
	m.body(rest)
	return true
}

// onlyToken takes the single token of a header: the host, unless it looks like a
// tag.
func (m *syslogMessage) onlyToken(token string) {
	if _, _, ok := tagged(token); ok {
		m.tag(token)
		return
	}
	m.host = present(token)
}

func (m *syslogMessage) tag(tag string) {
	if name, pid, ok := tagged(tag); ok {
		m.app, m.procid = name, pid
		return
	}
	m.app = present(tag)
}

// tagged takes "name[pid]" apart.
func tagged(s string) (name, pid string, ok bool) {
	name, pid, ok = strings.Cut(strings.TrimSuffix(s, "]"), "[")
	ok = ok && strings.HasSuffix(s, "]") && name != "" && pid != "" && !strings.ContainsAny(pid, "[]")
	return name, pid, ok
}

// body takes structured elements with parameters off the front of a message.
func (m *syslogMessage) body(s string) {
	s = strings.TrimLeft(s, " ")
	for strings.HasPrefix(s, "[") {
		pairs, after, ok := element(s)
		if !ok || len(pairs) == 0 {
			break
		}
		m.data = append(m.data, pairs...)
		s = strings.TrimLeft(after, " ")
	}
	m.text = s
}

// present turns the sign for an absent part into nothing.
func present(word string) string {
	if word == "-" {
		return ""
	}
	return word
}

// maxName bounds the names of structured data, where RFC 5424 allows 32 characters:
// each of the values of an element has a copy of its id.
const maxName = 64

// element reads one structured element, `[id name="value" ...]`.
func element(s string) (pairs []event.Pair, rest string, ok bool) {
	s = s[1:]
	i := strings.IndexAny(s, " ]=\"")
	if i <= 0 || i > maxName || s[i] == '=' || s[i] == '"' {
		return nil, "", false
	}
	id, s := s[:i], s[i:]
	for {
		s = strings.TrimLeft(s, " ")
		if strings.HasPrefix(s, "]") {
			return pairs, s[1:], true
		}
		end := strings.Index(s[:min(len(s), maxName+len(`="`))], `="`)
		if end <= 0 || strings.ContainsAny(s[:end], " ]=\"") {
			return nil, "", false
		}
		name := s[:end]
		value, after, closed := quoted(s[end+len(`="`):])
		if !closed {
			return nil, "", false
		}
		pairs = append(pairs, event.Pair{Key: id + "." + name, Value: value})
		s = after
	}
}

// quoted reads a value up to its closing quote. Backslashes before a quote, a
// backslash and a bracket are escapes, \n is a line feed, others stay.
func quoted(s string) (value, rest string, closed bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c == '\\' && i+1 < len(s) && strings.IndexByte(`"\]`, s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		case c == '\\' && i+1 < len(s) && s[i+1] == 'n':
			i++
			b.WriteByte('\n')
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
