package frame

import (
	"bytes"
	"encoding/json"
)

// Sniffer finds out whether a text is a stream of values or lines, from its beginning.
// It is a stream when its first line begins with a bracket and ends inside the first
// value, or is longer than a line may be, and what follows makes that value, or of an
// array the first element, JSON. It consists of lines as soon as nothing can make it JSON
// any more.
type Sniffer struct {
	Limit int // of a line, and of a value

	seen         int // bytes that have been looked at for the end of the first line
	line         int // where that is; 0 when it is not known
	value, first probe
	json         prefix // what was read of first

	judged int // whole lines that have been looked at, as bytes
	whole  bool
}

// Decide says whether the text that begins with head is a stream of values, once that
// is decided. Head is longer each time and begins with the first character that is not
// white space; ended says that it is the whole text.
func (s *Sniffer) Decide(head []byte, ended bool) (values, decided bool) {
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return false, len(head) > 0 || ended
	}
	over := len(head) > s.Limit+1 // a carriage return may end the longest line
	if s.line == 0 {
		if i := bytes.IndexByte(head[s.seen:], '\n'); i >= 0 {
			s.line = s.seen + i
		}
		s.seen = len(head)
		if s.line == 0 && !over {
			return false, ended
		}
	}
	s.value.Whole = true
	if s.value.find(head) && s.line > 0 && s.value.to <= s.line && s.line <= s.Limit+1 {
		return false, true
	}
	from := s.first.at
	found := s.first.find(head)
	if s.value.found && s.first.from >= s.value.to { // an array of nothing, and perhaps something behind it
		return json.Valid(head[s.value.from:s.value.to]), true
	}
	if s.first.Open() || found {
		if from = max(from, s.first.from); !s.json.read(head[from:s.first.at]) && s.line > 0 {
			return false, true
		}
	}
	switch {
	case found:
		return s.first.to-s.first.from <= s.Limit && json.Valid(head[s.first.from:s.first.to]), true
	case s.value.found:
		return json.Valid(head[s.value.from:s.value.to]), true
	}
	return false, over || ended
}

// Torn reports whether a line of the text behind the first is an object or array of its
// own, so that there is an event to wait for in vain if the first line is only a broken
// one. It is asked while Decide has not decided.
func (s *Sniffer) Torn(head []byte) bool {
	if s.line == 0 {
		return false
	}
	for s.judged = max(s.judged, s.line+1); !s.whole; {
		n := bytes.IndexByte(head[s.judged:], '\n')
		if n < 0 {
			break
		}
		line := bytes.TrimSpace(head[s.judged : s.judged+n])
		s.judged += n + 1
		s.whole = len(line) > 0 && (line[0] == '{' || line[0] == '[') && json.Valid(line)
	}
	return s.whole
}

// probe looks for the first value of a text that grows.
type probe struct {
	Scanner
	at       int // what lies before has been looked at
	from, to int
	found    bool
}

func (p *probe) find(head []byte) bool {
	for !p.found && p.at < len(head) {
		if !p.Open() {
			p.at += p.Skip(head[p.at:])
			p.from = p.at
			if p.at == len(head) {
				break
			}
		}
		n, whole := p.Take(head[p.at:])
		p.at += n
		p.to, p.found = p.at, whole
	}
	return p.found
}
