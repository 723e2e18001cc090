package format

import (
	"bytes"
	"math"

	"github.com/sluicehq/sluice/sigma/engine"
)

var cefMark = []byte("CEF:")

// cefKeys are those of the header.
var cefKeys = words("cef_version", "deviceVendor", "deviceProduct", "deviceVersion", "signatureId", "name", "severity")

// cef decodes a Common Event Format record, wherever it begins in the line. It
// fails without the marker, with fewer than seven header fields, and for a
// version that is no number.
func cef(w *engine.Worker, ev *engine.Events, s []byte) error {
	at := bytes.Index(s, cefMark)
	if at < 0 {
		return ErrFormat
	}
	s = s[at+len(cefMark):]
	var header [7][]byte
	var escaped [len(header)]bool
	for i := range header {
		n := 0
		if n, escaped[i] = unescaped(s, '|'); n < 0 {
			return ErrFormat
		}
		header[i], s = s[:n], s[n+1:]
	}
	header[0] = bytes.TrimSpace(header[0])
	if !isUint32(header[0]) {
		return ErrFormat
	}
	p := w.Pairs(ev)
	for i, value := range header {
		if escaped[i] {
			p.AddUnescaped(cefKeys[i], value, unescapeHeader)
		} else {
			p.Add(cefKeys[i], value)
		}
	}
	cefExtension(p, s)
	p.End()
	return nil
}

// cefExtension adds the pairs of an extension. A key is the last word before
// an equals sign; one without a word before it belongs to the value it is in.
func cefExtension(p *engine.Pairs, s []byte) {
	var key []byte
	begin := -1 // of the value at hand
	start := 0  // of the last word so far
	for from := 0; ; {
		i, _ := unescaped(s[from:], '=')
		if i < 0 {
			break
		}
		i += from
		if blank := bytes.LastIndexByte(s[from:i], ' '); blank >= 0 {
			start = from + blank + 1
		}
		from = i + 1
		if start == i || start < begin {
			continue // no word of its own in front
		}
		if begin >= 0 {
			addExtension(p, key, s[begin:start])
		}
		key, begin = s[start:i], i+1
	}
	if begin >= 0 {
		addExtension(p, key, s[begin:])
	}
}

func addExtension(p *engine.Pairs, key, value []byte) {
	value = bytes.TrimSpace(value)
	if bytes.IndexByte(value, '\\') >= 0 {
		p.AddUnescaped(key, value, unescapeExtension)
		return
	}
	p.Add(key, value)
}

func unescapeHeader(dst, s []byte) []byte    { return unescape(dst, s, `|\`, "") }
func unescapeExtension(dst, s []byte) []byte { return unescape(dst, s, `=\`, "nr") }

// isUint32 reports whether a text is a decimal number of 32 bits.
func isUint32(s []byte) bool {
	n := uint64(0)
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
		if n = 10*n + uint64(c-'0'); n > math.MaxUint32 {
			return false
		}
	}
	return len(s) > 0
}
