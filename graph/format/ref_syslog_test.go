package format

import (
	"strings"
	"time"

	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/event"
)

// The functions whose names begin with ref are the formats as plainly as they can be
// written: with a string for each piece and a list of pairs for each line. The decoders
// must agree with them.

// pair is a named text.
type pair struct{ Key, Value string }

// refMessage is a syslog line in its parts. Absent parts are empty.
type refMessage struct {
	timestamp, host, app, procid, msgid string
	facility, severity                  string
	data                                []pair // "<id>.<name>"
	text                                string
}

var refFacilities = [...]string{
	"LOG_KERN", "LOG_USER", "LOG_MAIL", "LOG_DAEMON", "LOG_AUTH", "LOG_SYSLOG", "LOG_LPR", "LOG_NEWS",
	"LOG_UUCP", "LOG_CRON", "LOG_AUTHPRIV", "LOG_FTP", "LOG_NTP", "LOG_AUDIT", "LOG_ALERT", "LOG_CLOCKD",
	"LOG_LOCAL0", "LOG_LOCAL1", "LOG_LOCAL2", "LOG_LOCAL3", "LOG_LOCAL4", "LOG_LOCAL5", "LOG_LOCAL6", "LOG_LOCAL7",
}

var refSeverities = [...]string{
	"SEV_EMERG", "SEV_ALERT", "SEV_CRIT", "SEV_ERR", "SEV_WARNING", "SEV_NOTICE", "SEV_INFO", "SEV_DEBUG",
}

// refSyslog is what a line of the format syslog is: an object, or pairs.
func (d *Decoder) refSyslog(w *engine.Worker, line string, arrival int64) (doc []byte, pairs []pair) {
	m, ok := refParse(line, d.zone(), arrival)
	if !ok {
		return nil, []pair{{Key: "_raw", Value: strings.TrimSpace(line)}}
	}
	return d.refMessage(w, m)
}

// refMessage is what a parsed line is: a message that is a JSON object with the header
// added to it, or its parts.
func (d *Decoder) refMessage(w *engine.Worker, m refMessage) (doc []byte, pairs []pair) {
	if !d.KeepBOM {
		m.text = strings.TrimPrefix(m.text, "\ufeff")
	}
	m.text = strings.TrimSpace(m.text)
	if strings.HasPrefix(m.text, "{") {
		ev := new(engine.Events)
		if w.DecodeJSON(ev, []byte(m.text)) == nil {
			return m.document(ev.Root(0)), nil
		}
	}
	return nil, m.pairs()
}

// header lists the parts that are there, in order, named as fields.
func (m *refMessage) header() []pair {
	parts := [...]pair{
		{Key: "timestamp", Value: m.timestamp},
		{Key: "hostname", Value: m.host},
		{Key: "appname", Value: m.app},
		{Key: "procid", Value: m.procid},
		{Key: "msgid", Value: m.msgid},
		{Key: "facility", Value: m.facility},
		{Key: "severity", Value: m.severity},
	}
	there := make([]pair, 0, len(parts)+len(m.data)+1)
	for _, p := range parts {
		if p.Value != "" {
			there = append(there, p)
		}
	}
	return there
}

func (m *refMessage) pairs() []pair {
	pairs := append(m.header(), m.data...)
	if m.text != "" {
		pairs = append(pairs, pair{Key: "_raw", Value: m.text})
	}
	return pairs
}

// document is the JSON object of the message with the header behind its own
// members. A key it already has is not added.
func (m *refMessage) document(object event.Value) []byte {
	doc := append([]byte(nil), m.text[:len(m.text)-1]...)
	empty := true
	for range object.Members {
		empty = false
		break
	}
	has := refKeysOf(object, len(m.data))
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

// refFewLookups is how many keys are looked for in an object by reading it.
const refFewLookups = 16

// refKeysOf returns the function that reports whether an object has a key. It is made for
// about so many lookups.
func refKeysOf(object event.Value, lookups int) func(key string) bool {
	if lookups <= refFewLookups {
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

// refParse takes a line apart by RFC 5424, else by RFC 3164.
func refParse(line string, zone *time.Location, arrival int64) (refMessage, bool) {
	var m refMessage
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
func (m *refMessage) priority(s string) (rest string, ok bool) {
	if !strings.HasPrefix(s, "<") {
		return s, true
	}
	digits, rest, found := strings.Cut(s[1:], ">")
	n, ok := refNumber(digits, 1, 3)
	if !found || !ok || n > 255 {
		return "", false
	}
	if n/8 < len(refFacilities) {
		m.facility = refFacilities[n/8]
	}
	m.severity = refSeverities[n%8]
	return rest, true
}

func (m *refMessage) rfc5424(s string) bool {
	version, rest := refCutWord(s)
	if _, ok := refNumber(version, 1, 9); !ok {
		return false
	}
	word, rest := refCutWord(rest)
	if word != "-" {
		at, err := time.Parse(time.RFC3339Nano, word)
		if err != nil {
			return false
		}
		m.timestamp = refRender(at)
	}
	for _, part := range []*string{&m.host, &m.app, &m.procid, &m.msgid} {
		if word, rest = refCutWord(rest); word == "" {
			return false
		}
		*part = refPresent(word)
	}
	switch {
	case rest == "-" || strings.HasPrefix(rest, "- "):
		rest = rest[1:]
	case strings.HasPrefix(rest, "["):
		for strings.HasPrefix(rest, "[") {
			pairs, after, ok := refElement(rest)
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

func (m *refMessage) rfc3164(s string, zone *time.Location, arrival int64) bool {
	var ok bool
	var rest string
	if m.timestamp, rest, ok = refStamp(strings.TrimLeft(s, " "), zone, arrival); !ok {
		return false
	}
	host, rest := refCutWord(rest)
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
	m.host = refPresent(host)
	m.tag(tag)
	m.body(rest)
	return true
}

// onlyToken takes the single token of a header: the host, unless it looks like a
// tag.
func (m *refMessage) onlyToken(token string) {
	if _, _, ok := refTagged(token); ok {
		m.tag(token)
		return
	}
	m.host = refPresent(token)
}

func (m *refMessage) tag(tag string) {
	if name, pid, ok := refTagged(tag); ok {
		m.app, m.procid = name, pid
		return
	}
	m.app = refPresent(tag)
}

// refTagged takes "name[pid]" apart.
func refTagged(s string) (name, pid string, ok bool) {
	name, pid, ok = strings.Cut(strings.TrimSuffix(s, "]"), "[")
	ok = ok && strings.HasSuffix(s, "]") && name != "" && pid != "" && !strings.ContainsAny(pid, "[]")
	return name, pid, ok
}

// body takes structured elements with parameters off the front of a message.
func (m *refMessage) body(s string) {
	s = strings.TrimLeft(s, " ")
	for strings.HasPrefix(s, "[") {
		pairs, after, ok := refElement(s)
		if !ok || len(pairs) == 0 {
			break
		}
		m.data = append(m.data, pairs...)
		s = strings.TrimLeft(after, " ")
	}
	m.text = s
}

// refPresent turns the sign for an absent part into nothing.
func refPresent(word string) string {
	if word == "-" {
		return ""
	}
	return word
}

// refMaxName bounds the names of structured data, where RFC 5424 allows 32 characters:
// each of the values of an element has a copy of its id.
const refMaxName = 64

// refElement reads one structured element, `[id name="value" ...]`.
func refElement(s string) (pairs []pair, rest string, ok bool) {
	s = s[1:]
	i := strings.IndexAny(s, " ]=\"")
	if i <= 0 || i > refMaxName || s[i] == '=' || s[i] == '"' {
		return nil, "", false
	}
	id, s := s[:i], s[i:]
	for {
		s = strings.TrimLeft(s, " ")
		if strings.HasPrefix(s, "]") {
			return pairs, s[1:], true
		}
		end := strings.Index(s[:min(len(s), refMaxName+len(`="`))], `="`)
		if end <= 0 || strings.ContainsAny(s[:end], " ]=\"") {
			return nil, "", false
		}
		name := s[:end]
		value, after, closed := refQuoted(s[end+len(`="`):])
		if !closed {
			return nil, "", false
		}
		pairs = append(pairs, pair{Key: id + "." + name, Value: value})
		s = after
	}
}

// refQuoted reads a value up to its closing quote. Backslashes before a quote, a
// backslash and a bracket are escapes, \n is a line feed, others stay.
func refQuoted(s string) (value, rest string, closed bool) {
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
