package compile

import (
	"bytes"
	"net/netip"
	"time"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// Plain reports whether a text predicate evaluates the text as it is; the others
// evaluate it with case folded.
func (p *Pred) Plain() bool { return p.Cased || p.Kind == Regex || p.Kind == CIDR }

// MatchText evaluates one text form, which is folded unless Plain says otherwise. Regular
// expressions are run by whoever has the memory for it.
func (p *Pred) MatchText(text []byte) bool {
	switch p.Kind {
	case Exact:
		return string(text) == p.Text
	case Prefix:
		return len(text) >= len(p.Text) && string(text[:len(p.Text)]) == p.Text
	case Suffix:
		return len(text) >= len(p.Text) && string(text[len(text)-len(p.Text):]) == p.Text
	case Contains:
		return contains(text, p.Text)
	case Glob:
		return p.More.Glob.Match(text)
	case Among:
		return p.More.Texts.find()(text)
	case CIDR:
		return inNetwork(p.More.Net, text)
	}
	return false
}

func contains(text []byte, s string) bool {
	if len(s) > len(text) {
		return false
	}
	return bytes.Contains(text, unsafeBytes(s))
}

// MatchNumber evaluates a numeric form.
func (p *Pred) MatchNumber(n event.Numeric) bool {
	c := n.Compare(p.More.Number)
	switch p.Kind {
	case Equal:
		return c == 0
	case Greater:
		return c > 0
	case GreaterEqual:
		return c >= 0
	case Less:
		return c < 0
	case LessEqual:
		return c <= 0
	}
	return false
}

// MatchBool evaluates a value by the boolean rules: booleans, or text that spells
// one. Folded is the text of a string, empty for other types.
func (p *Pred) MatchBool(t event.Type, folded []byte) bool {
	switch t {
	case event.True:
		return p.Kind == IsTrue
	case event.False:
		return p.Kind == IsFalse
	case event.String, event.Text:
		if p.Kind == IsTrue {
			return string(folded) == "true" || string(folded) == "1" || string(folded) == "yes"
		}
		return string(folded) == "false" || string(folded) == "0" || string(folded) == "no"
	}
	return false
}

// MatchTime evaluates a part of a time.
func (p *Pred) MatchTime(t time.Time) bool {
	var part int
	switch p.More.Part {
	case ast.Minute:
		part = t.Minute()
	case ast.Hour:
		part = t.Hour()
	case ast.Day:
		part = t.Day()
	case ast.Week:
		_, part = t.ISOWeek()
	case ast.Month:
		part = int(t.Month())
	case ast.Year:
		part = t.Year()
	}
	n := event.Numeric{Exact: true, Float: float64(part), Abs: uint64(part)}
	if part < 0 {
		n.Negative, n.Abs = true, uint64(-part)
	}
	return n.Compare(p.More.Number) == 0
}

// inNetwork reports whether text is exactly one address, without zone, of the
// network. An IPv4-mapped address is tried as IPv4, too.
func inNetwork(net netip.Prefix, text []byte) bool {
	a, ok := address(text)
	return ok && (net.Contains(a) || a.Is4In6() && net.Contains(a.Unmap()))
}

// address reads text that is exactly one address, without zone.
func address(text []byte) (a netip.Addr, ok bool) {
	if len(text) < 2 || len(text) > 45 {
		return a, false
	}
	separated := false
	for _, c := range text { // a failing parse allocates
		switch {
		case c == '.' || c == ':':
			separated = true
		case '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f':
		default:
			return a, false
		}
	}
	if !separated {
		return a, false
	}
	a, err := netip.ParseAddr(string(text))
	return a, err == nil
}
