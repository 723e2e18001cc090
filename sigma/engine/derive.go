package engine

import (
	"bytes"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
)

// A Windows record names its channel, its provider and its event id, each under the
// first of these fields that holds a text or a number.
var (
	eventIDFields  = [...]string{"EventID", "Event.System.EventID", "Event.System.EventID.#text", "winlog.event_id"}
	channelFields  = [...]string{"Channel", "Event.System.Channel", "winlog.channel"}
	providerFields = [...]string{
		"Provider_Name", "SourceName", "Provider.Name", "Event.System.Provider.#attributes.Name", "winlog.provider_name",
	}
)

// recordFields are the numbers of these fields.
type recordFields struct{ id, channel, provider []uint32 }

// windowsFields lists their names.
func windowsFields() []string {
	return slices.Concat(eventIDFields[:], channelFields[:], providerFields[:])
}

func newRecordFields(fields *compile.Fields) *recordFields {
	numbers := func(names []string) []uint32 {
		out := make([]uint32, len(names))
		for i, name := range names {
			out[i], _ = fields.Lookup(name)
		}
		return out
	}
	return &recordFields{numbers(eventIDFields[:]), numbers(channelFields[:]), numbers(providerFields[:])}
}

// record is what the event at hand says of itself as a Windows record: the event id,
// the channel and the provider, each nil when it is absent. Without an event id
// nothing else is looked for.
type record [3]*scan.Cell

// record reads what the event at hand says.
func (w *Worker) record(f *recordFields) (r record) {
	if f == nil {
		return r
	}
	if r[0] = w.firstUsable(f.id); r[0] == nil {
		return r
	}
	if r[0] = w.mayBeInteger(r[0]); r[0] != nil {
		r[1], r[2] = w.firstUsable(f.channel), w.firstUsable(f.provider)
	}
	return r
}

// firstUsable returns the value of the first of the fields that holds a number or a
// text that is not blank.
func (w *Worker) firstUsable(fields []uint32) *scan.Cell {
	for _, f := range fields {
		if w.view.first(f) == none {
			continue // mostly: an event has one shape
		}
		if c, ok := w.view.single(f); ok && w.usableCell(c) {
			return c
		}
	}
	return nil
}

func (w *Worker) usableCell(c *scan.Cell) bool {
	switch c.Type {
	case event.Number:
		return true
	case event.String:
		if c.Flags&scan.Escaped == 0 && w.view.doc[c.Start+1] > ' ' && w.view.doc[c.Start+1] < 0x80 {
			return c.End-c.Start > 2 // nearly always
		}
		w.scratch, _ = c.Value(w.view.doc).AppendText(w.scratch[:0])
		return len(bytes.TrimSpace(w.scratch)) > 0
	}
	return false
}

// maxEventID is more characters than an event id has.
const maxEventID = 32

// mayBeInteger returns c unless it is certain that no integer stands there, as in names
// and identifiers: there are many of them, and none is worth a place in the caches.
func (w *Worker) mayBeInteger(c *scan.Cell) *scan.Cell {
	switch {
	case c.End-c.Start > maxEventID:
		return nil
	case c.Type == event.Number:
		return c
	}
	for _, b := range w.view.doc[c.Start:c.End] {
		switch {
		case '0' <= b && b <= '9', b == '"', b == ' ', b == '-', b == '+':
		case c.Flags&scan.Escaped != 0:
			return c
		default:
			return nil
		}
	}
	return c
}

// derived holds the values of product, service and category that a Windows record
// implies, in lower case: none, one or several of each.
type derived [3][]string

// implied says what the record implies for a product, which is empty when nothing
// states one.
func (w *Worker) implied(r *record, product string) derived {
	if r[0] == nil || product != "" && product != windowsProduct {
		return derived{}
	}
	var id uint64
	if n, ok := event.ParseNumeric(w.lowerText(r[0])); !ok || !n.Exact {
		return derived{}
	} else if id = n.Abs; n.Negative {
		id = 0 // no table has it
	}
	var text [2]string
	for i, c := range r[1:] {
		if c != nil {
			text[i] = string(w.lowerText(c))
		}
	}
	return windowsRecord(id, text[0], text[1])
}

// lowerText returns the text of a cell in lower case, valid until the next call.
func (w *Worker) lowerText(c *scan.Cell) []byte {
	w.scratch, _ = c.Value(w.view.doc).AppendText(w.scratch[:0])
	lowerASCII(w.scratch)
	return bytes.TrimSpace(w.scratch)
}

// windowsProduct is the product of Windows records.
const windowsProduct = "windows"

var windowsProducts = []string{windowsProduct}

// windowsRecord says what an event id implies together with a channel and a provider,
// which are in lower case and may be empty. Nothing is implied unless one of the two is
// known or has the prefix of Windows itself. A channel decides on the service alone.
func windowsRecord(id uint64, channel, provider string) derived {
	service, known := windowsChannels[channel]
	byProvider, knownProvider := windowsProviders[provider]
	if !known && !knownProvider && !strings.HasPrefix(channel, windowsPrefix) && !strings.HasPrefix(provider, windowsPrefix) {
		return derived{}
	}
	if channel == "" {
		service = byProvider
	}
	d := derived{windowsProducts, service}
	if len(service) > 0 {
		d[2] = windowsCategories[windowsEvent{service[0], id}]
	}
	return d
}

// Product returns the product that event i shows, in lower case: what its field product
// says, or windows when it is a Windows record; empty when it shows none. It walks the
// event, so it is for a few events among many.
func (ev *Events) Product(i int) string {
	root := ev.list[i].value()
	if p := firstText(root, "product"); p != "" {
		return p
	}
	n, ok := event.ParseNumeric([]byte(firstText(root, eventIDFields[:]...)))
	if !ok || !n.Exact {
		return ""
	}
	if windowsRecord(n.Abs, firstText(root, channelFields[:]...), firstText(root, providerFields[:]...))[0] == nil {
		return ""
	}
	return windowsProduct
}

// firstText returns the text or number, in lower case, of the first of the fields that
// holds one which is not blank.
func firstText(root event.Value, names ...string) string {
	for _, name := range names {
		p := event.ParsePath(name, 0)
		hits := p.Resolve(nil, root, false)
		if len(hits) != 1 || hits[0].Type != event.String && hits[0].Type != event.Number {
			continue
		}
		text, _ := hits[0].AppendText(nil)
		lowerASCII(text)
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return string(text)
		}
	}
	return ""
}
