package webhook

import (
	"fmt"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/binding"
	"github.com/sluicehq/sluice/graph/scope"
	"github.com/sluicehq/sluice/internal/template"
)

// Form writes the requests of one webhook. A message has the rendered URL as its subject
// and the rendered headers; it has neither if both are the same for every result.
type Form struct {
	id          string
	kind        graph.Kind
	scope       *scope.Scope
	url         *binding.Template
	headers     []header
	contentType int               // number of that header; -1 without one
	body        *binding.Template // nil for requests without a body
	plain       bool              // neither URL nor headers have references
}

// header is a header of every request.
type header struct {
	name  string
	value *binding.Template
}

// Accepts reports whether p is a result of the webhook's kind in its scope. Records
// never are.
func (f *Form) Accepts(p graph.Payload) bool {
	return p.Result != nil && p.Result.Kind() == f.kind && f.scope.Admits(p.Result)
}

// Native implements graph.Form.
func (*Form) Native() bool { return false }

// Append appends the body and gives m an address. An error means that the URL or a
// header cannot be sent: it never will.
func (f *Form) Append(dst []byte, p graph.Payload, m *graph.Message) ([]byte, error) {
	at, place := len(dst), template.JSON
	if f.contentType >= 0 {
		dst = f.headers[f.contentType].value.Append(dst, template.Header, p.Result)
		if !template.IsJSON(string(dst[at:])) {
			place = template.Plain
		}
		dst = dst[:at]
	}
	if !f.plain {
		var err error
		if dst, err = f.address(dst, p.Result, m); err != nil {
			return dst, err
		}
	}
	if f.body == nil {
		return dst, nil
	}
	return f.body.Append(dst, place, p.Result), nil
}

// address gives m what its URL and headers are. It leaves dst as it was.
func (f *Form) address(dst []byte, r *graph.Result, m *graph.Message) ([]byte, error) {
	at := len(dst)
	dst = f.url.Append(dst, template.URL, r)
	if _, err := template.ParseURL(dst[at:]); err != nil {
		return dst, fmt.Errorf("webhook %s: %w", f.id, err)
	}
	to := string(dst[at:])
	headers := make([]graph.Header, len(f.headers))
	for i, h := range f.headers {
		dst = h.value.Append(dst[:at], template.Header, r)
		if err := checkHeader(h.name, dst[at:]); err != nil {
			return dst, fmt.Errorf("webhook %s: header %s: %w", f.id, h.name, err)
		}
		headers[i] = graph.Header{Name: h.name, Value: string(dst[at:])}
	}
	m.Address(to, headers...)
	return dst[:at], nil
}

// literal reports whether URL and headers are the same for every result.
func (f *Form) literal() bool {
	for _, h := range f.headers {
		if h.value == nil {
			return false
		}
		if _, literal := h.value.Literal(); !literal {
			return false
		}
	}
	if f.url == nil {
		return false
	}
	_, literal := f.url.Literal()
	return literal
}

// names are those of the headers.
func (f *Form) names() []string {
	var all []string
	for _, h := range f.headers {
		all = append(all, h.name)
	}
	return all
}
