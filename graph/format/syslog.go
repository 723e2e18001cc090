package format

import (
	"bytes"
	"time"

	"github.com/sluicehq/sluice/sigma/engine"
)

// The parts of the header of a syslog line.
const (
	timestamp = iota
	hostname
	appname
	procid
	msgid
	facility
	severity
	headerParts
)

var headerKeys = words("timestamp", "hostname", "appname", "procid", "msgid", "facility", "severity")

var (
	rawKey = []byte("_raw")
	bom    = []byte("\ufeff")
)

var facilities = words(
	"LOG_KERN", "LOG_USER", "LOG_MAIL", "LOG_DAEMON", "LOG_AUTH", "LOG_SYSLOG", "LOG_LPR", "LOG_NEWS",
	"LOG_UUCP", "LOG_CRON", "LOG_AUTHPRIV", "LOG_FTP", "LOG_NTP", "LOG_AUDIT", "LOG_ALERT", "LOG_CLOCKD",
	"LOG_LOCAL0", "LOG_LOCAL1", "LOG_LOCAL2", "LOG_LOCAL3", "LOG_LOCAL4", "LOG_LOCAL5", "LOG_LOCAL6", "LOG_LOCAL7",
)

var severities = words(
	"SEV_EMERG", "SEV_ALERT", "SEV_CRIT", "SEV_ERR", "SEV_WARNING", "SEV_NOTICE", "SEV_INFO", "SEV_DEBUG",
)

// syslogMessage is a syslog line in its parts, which are pieces of the line. Absent ones
// are empty.
type syslogMessage struct {
	header [headerParts][]byte // but for the timestamp
	data   []byte              // structured elements
	sound  bool                // each of them is well formed
	text   []byte
	stamp  stamp
}

// part is a part of the header.
func (m *syslogMessage) part(i int) []byte {
	if i == timestamp {
		return m.stamp.text[:m.stamp.length]
	}
	return m.header[i]
}

// syslog decodes a line of the format syslog, which every line has: one that is
// neither RFC 5424 nor RFC 3164 is an event with the field _raw.
func (d *Decoder) syslog(w *engine.Worker, ev *engine.Events, line []byte, arrival int64) {
	var m syslogMessage
	if m.parse(line, d.zone(), arrival) {
		d.message(w, ev, &m)
		return
	}
	p := w.Pairs(ev)
	p.Add(rawKey, bytes.TrimSpace(line))
	p.End()
}

// message decodes a parsed line: a message that is a JSON object is the event,
// with the header added to it; else the parts are its fields.
func (d *Decoder) message(w *engine.Worker, ev *engine.Events, m *syslogMessage) {
	if !d.KeepBOM {
		m.text = bytes.TrimPrefix(m.text, bom)
	}
	m.text = bytes.TrimSpace(m.text)
	if n := len(m.text); n >= 2 && m.text[0] == '{' && m.text[n-1] == '}' && m.object(w, ev, d.Filter) {
		return
	}
	p := w.Pairs(ev)
	for i := range m.header {
		if part := m.part(i); len(part) > 0 {
			p.Add(headerKeys[i], part)
		}
	}
	for it := m.elements(); it.next(); {
		var name [2*maxName + 1]byte
		if key := it.appendKey(name[:0]); it.escaped {
			p.AddUnescaped(key, it.value, unescapeParameter)
		} else {
			p.Add(key, it.value)
		}
	}
	if len(m.text) > 0 {
		p.Add(rawKey, m.text)
	}
	p.End()
}

// elements walks through the parameters of structured data.
func (m *syslogMessage) elements() elements { return elements{rest: m.data, sound: m.sound} }

// parse takes a line apart by RFC 5424, else by RFC 3164.
func (m *syslogMessage) parse(line []byte, zone *time.Location, arrival int64) bool {
	rest, ok := m.priority(bytes.TrimSpace(line))
	if !ok {
		return false
	}
	if m.rfc5424(rest) {
		return true
	}
	clear(m.header[:facility])
	m.data, m.stamp.length = nil, 0
	return m.rfc3164(rest, zone, arrival)
}

// priority reads "<n>". It fails only for one that is begun and not well formed.
func (m *syslogMessage) priority(s []byte) (rest []byte, ok bool) {
	if len(s) == 0 || s[0] != '<' {
		return s, true
	}
	end := bytes.IndexByte(s[:min(len(s), len("<255>"))], '>')
	if end < 0 {
		return nil, false
	}
	n, ok := number(s[1:end], 1, 3)
	if !ok || n > 255 {
		return nil, false
	}
	if n/8 < len(facilities) {
		m.header[facility] = facilities[n/8]
	}
	m.header[severity] = severities[n%8]
	return s[end+1:], true
}

func (m *syslogMessage) rfc5424(s []byte) bool {
	version, rest := cutWord(s)
	if _, ok := number(version, 1, 9); !ok {
		return false
	}
	word, rest := cutWord(rest)
	if !absent(word) && !m.stamp.rfc3339(word) {
		return false
	}
	for part := hostname; part <= msgid; part++ {
		if word, rest = cutWord(rest); len(word) == 0 {
			return false
		}
		m.header[part] = present(word)
	}
	switch {
	case len(rest) == 0:
		return false
	case rest[0] == '-' && (len(rest) == 1 || rest[1] == ' '):
		rest = rest[1:]
	case rest[0] == '[':
		n := 0
		if n, m.sound = elementsLength(rest); n < 0 {
			return false
		}
		m.data, rest = rest[:n], rest[n:]
	default:
		return false
	}
	m.text = trimBlanks(rest)
	return true
}

func (m *syslogMessage) rfc3164(s []byte, zone *time.Location, arrival int64) bool {
	rest, ok := m.stamp.read(trimBlanks(s), zone, arrival)
	if !ok {
		return false
	}
	host, rest := cutWord(rest)
	if n := len(host); n > 0 && host[n-1] == ':' {
		m.onlyToken(host[:n-1])
		m.body(rest)
		return true
	}
	if len(rest) == 0 {
		m.onlyToken(host)
		return true
	}
	end := 0
	for end < len(rest) && rest[end] != ' ' && rest[end] != '\t' && rest[end] != ':' {
		end++
	}
	tag, rest := rest[:end], rest[end:]
	if len(rest) > 0 && rest[0] == ':' {
		rest = rest[1:]
	}
	if len(tag) == 0 && len(rest) == 0 {
		m.onlyToken(host)
		return true
	}
	m.header[hostname] = present(host)
	m.tag(tag)
	m.body(rest)
	return true
}

// onlyToken takes the single token of a header: the host, unless it looks like a
// tag.
func (m *syslogMessage) onlyToken(token []byte) {
	if name, pid, ok := tagged(token); ok {
		m.header[appname], m.header[procid] = name, pid
		return
	}
	m.header[hostname] = present(token)
}

func (m *syslogMessage) tag(tag []byte) {
	if name, pid, ok := tagged(tag); ok {
		m.header[appname], m.header[procid] = name, pid
		return
	}
	m.header[appname] = present(tag)
}

// tagged takes "name[pid]" apart.
func tagged(s []byte) (name, pid []byte, ok bool) {
	n := len(s)
	if n == 0 || s[n-1] != ']' {
		return nil, nil, false
	}
	open := bytes.IndexByte(s, '[')
	if open <= 0 || open+1 >= n-1 {
		return nil, nil, false
	}
	name, pid = s[:open], s[open+1:n-1]
	return name, pid, bytes.IndexByte(pid, '[') < 0 && bytes.IndexByte(pid, ']') < 0
}

// body takes structured elements with parameters off the front of a message.
func (m *syslogMessage) body(s []byte) {
	s = trimBlanks(s)
	m.text, m.sound = s, true
	for len(m.text) > 0 && m.text[0] == '[' {
		params, n := element(m.text)
		if params == 0 {
			break
		}
		m.text = trimBlanks(m.text[n:])
		m.data = s[:len(s)-len(m.text)]
	}
}

// absent reports whether a word is the sign for an absent part.
func absent(word []byte) bool { return len(word) == 1 && word[0] == '-' }

// present turns the sign for an absent part into nothing.
func present(word []byte) []byte {
	if absent(word) {
		return nil
	}
	return word
}

// cutWord returns the first run of non-spaces, and what follows it without the
// spaces in between.
func cutWord(s []byte) (word, rest []byte) {
	i := bytes.IndexByte(s, ' ')
	if i < 0 {
		return s, nil
	}
	return s[:i], trimBlanks(s[i:])
}

// trimBlanks returns s without the spaces in front.
func trimBlanks(s []byte) []byte {
	for len(s) > 0 && s[0] == ' ' {
		s = s[1:]
	}
	return s
}

// words are texts as bytes.
func words(texts ...string) [][]byte {
	out := make([][]byte, len(texts))
	for i, t := range texts {
		out[i] = []byte(t)
	}
	return out
}
