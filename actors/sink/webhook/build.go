package webhook

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/binding"
	"github.com/sluicehq/sluice/graph/scope"
	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/internal/ratelog"
	"github.com/sluicehq/sluice/internal/signing"
	"github.com/sluicehq/sluice/internal/strict"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/internal/template"
)

// kinds are the results that webhooks can be for.
var kinds = []graph.Kind{graph.KindDetection, graph.KindCorrelation}

// reserved are labels that no sink has.
var reserved = []string{"dlq", "audit"}

// ownHeaders are the headers that the client writes itself.
var ownHeaders = []string{"Content-Length", "Transfer-Encoding", "Trailer", "Connection"}

var idForm = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// builder makes a webhook of its configuration. It reports what is wrong by key and
// goes on.
type builder struct {
	c      Config
	lines  strict.Lines
	getenv func(string) string
	policy egress.Policy
	log    *slog.Logger // nil for none
	fail   func(key string, err error)
	rules  template.Rules[*graph.Result]
}

func (b *builder) failf(key, format string, args ...any) { b.fail(key, fmt.Errorf(format, args...)) }

// identify checks the id, which other webhooks have not had before, and remembers it.
func (b *builder) identify(taken []string, ids map[string]bool) {
	id := b.c.ID
	switch {
	case id == "":
		b.fail("id", errors.New("missing required field 'id'"))
		return
	case !idForm.MatchString(id):
		b.fail("id", errors.New("the id must have 1 to 64 characters of A-Z, a-z, 0-9, '_', '.' and '-'"))
	case ids[id]:
		b.failf("id", "duplicate webhook id '%s'", id)
	case slices.Contains(reserved, id):
		b.failf("id", "the id '%s' is reserved", id)
	case slices.Contains(taken, id):
		b.failf("id", "the id '%s' is the label of another sink", id)
	}
	ids[id] = true
}

// build makes the webhook. It is complete if nothing failed.
func (b *builder) build() *Webhook {
	c := &b.c
	w := &Webhook{
		ID: c.ID, Attempts: c.Retry.Attempts, Backoff: c.Retry.Backoff.Std(), MaxBackoff: c.Retry.MaxBackoff.Std(), QueueSize: c.QueueSize,
		method: strings.ToUpper(c.Method), timeout: c.Timeout.Std(), hasBody: c.Body != nil,
		form: &Form{id: c.ID, contentType: -1},
	}
	if !httpguts.ValidHeaderFieldName(w.method) {
		b.failf("method", "invalid HTTP method '%s'", c.Method)
	}
	b.request(w)
	if w.timeout <= 0 {
		b.fail("timeout", errors.New("timeout must be greater than zero"))
	}
	if c.Retry.Attempts < 1 {
		b.fail("retry.attempts", errors.New("retry.attempts must be at least 1"))
	}
	if c.QueueSize < 1 || c.QueueSize > maxQueue {
		b.failf("queue_size", "queue_size must be from 1 to %d", maxQueue)
	}
	b.rate(w)
	var err error
	if w.form.scope, err = scope.Compile(c.Scope); err != nil {
		b.each("scope", err)
	}
	if w.tls, err = c.TLS.Load(egress.AddToSystem, time.Now, b.notRenewed()); err != nil {
		b.each("tls", err)
	}
	if c.Signing != nil {
		if w.signer, err = signing.New(*c.Signing, w.form.names(), b.getenv); err != nil {
			b.each("signing", err)
		}
	}
	return w
}

// notRenewed returns what tells, now and then, of a renewed certificate of the webhook
// that cannot be used.
func (b *builder) notRenewed() func(error) {
	if b.log == nil {
		return nil
	}
	log, noisy := b.log.With("sink", b.c.ID), &ratelog.Limit{}
	return func(err error) {
		if kept, ok := noisy.Allow("", 1, time.Now()); ok {
			log.Warn(certs.NotRenewed, "err", err, "suppressed", kept)
		}
	}
}

// each reports every error that err joins.
func (b *builder) each(key string, err error) {
	joined, several := err.(interface{ Unwrap() []error }) // what it wraps further down is one error's matter
	if !several {
		b.fail(key, err)
		return
	}
	for _, one := range joined.Unwrap() {
		b.each(key, one)
	}
}

// request reads what the requests are made of.
func (b *builder) request(w *Webhook) {
	f := w.form
	f.kind = graph.Kind(b.c.Kind)
	known := slices.Contains(kinds, f.kind)
	switch {
	case b.c.Kind == "":
		b.fail("kind", errors.New("missing required field 'kind'"))
	case !known:
		names := []string{string(kinds[0]), string(kinds[1])}
		b.fail("kind", suggest.Wrap(fmt.Errorf("unknown kind '%s' (valid kinds: %s)", b.c.Kind, strings.Join(names, ", ")), b.c.Kind, names))
	}
	b.rules = binding.Rules(f.kind, "webhook")
	b.rules.Getenv = b.getenv
	if !known {
		b.rules.Lookup = func(string) (template.Value[*graph.Result], error) { return nil, nil } // nobody renders it
	}
	if strings.TrimSpace(b.c.URL) == "" {
		b.fail("url", errors.New("missing required field 'url'"))
	} else if reference, ok := choosesHost(b.c.URL); ok {
		b.failf("url", "template reference '%s' in field 'url' stands in front of the path: an event may not choose the host", reference)
	} else if f.url = b.template("url", b.c.URL); f.url != nil && known {
		b.checkURL(w)
	}
	b.headers(f)
	if b.c.Body != nil {
		if f.body = b.template("body", *b.c.Body); f.body != nil && known {
			b.checkBody(f)
		}
	}
	f.plain = f.literal()
}

// choosesHost returns the first reference to a result that stands in front of the path of
// a URL. Behind a variable, which may hold a whole URL, nobody knows where the path begins.
func choosesHost(text string) (reference string, ok bool) {
	_, rest, found := strings.Cut(text, "://")
	if !found || strings.Contains(text[:len(text)-len(rest)], "${") {
		rest = text
	}
	for {
		literal, behind, found := strings.Cut(rest, "${")
		name, after, closed := strings.Cut(behind, "}")
		switch {
		case !found, !closed, strings.ContainsAny(literal, `/?#\`):
			return "", false
		case strings.Contains(name, "."):
			return "${" + name + "}", true
		case name != "":
			return "", false
		}
		rest = after
	}
}

// ofEvent returns the first reference of a text that is to a result.
func ofEvent(text string) (reference string, ok bool) {
	for found := true; found; {
		_, text, found = strings.Cut(text, "${")
		if name, _, closed := strings.Cut(text, "}"); found && closed && strings.Contains(name, ".") {
			return "${" + name + "}", true
		}
	}
	return "", false
}

func (b *builder) template(field, text string) *binding.Template {
	t, err := template.Parse(text, field, b.rules)
	if err != nil {
		b.each(field, err)
		return nil
	}
	return t
}

func (b *builder) headers(f *Form) {
	n := b.c.Headers
	switch {
	case n == nil:
		return
	case n.Kind != document.Map:
		b.fail("headers", errors.New("field 'headers': want a mapping of names to values"))
		return
	}
	for _, e := range n.Entries {
		name, field := e.Key.Text, "headers."+e.Key.Text
		b.lines[field] = e.Key.Line
		value, isText := e.Value.Str()
		same := func(h header) bool { return strings.EqualFold(h.name, name) }
		switch {
		case !httpguts.ValidHeaderFieldName(name) || !e.Key.IsScalar():
			b.failf(field, "'%s' in field 'headers' is no name of a header", name)
			continue
		case slices.ContainsFunc(f.headers, same):
			b.failf(field, "header '%s' is configured twice", name)
			continue
		case slices.ContainsFunc(ownHeaders, func(s string) bool { return strings.EqualFold(s, name) }):
			b.failf(field, "header '%s' cannot be configured: it is part of how a request is sent", name)
			continue
		case !isText:
			b.failf(field, "field '%s': want text (quotes make it text)", field)
			continue
		}
		if reference, ok := ofEvent(value); ok && strings.EqualFold(name, "Host") {
			b.failf(field, "template reference '%s' in field '%s': an event may not choose the host", reference, field)
			continue
		}
		if strings.EqualFold(name, "Content-Type") {
			f.contentType = len(f.headers)
		}
		h := header{name: name, value: b.template(field, value)}
		f.headers = append(f.headers, h)
		if h.value == nil {
			continue
		}
		if text, literal := h.value.Literal(); literal {
			if err := checkHeader(name, []byte(text)); err != nil {
				b.failf(field, "field '%s': %w", field, err)
			}
		}
	}
}

// rate reads the bound on attempts.
func (b *builder) rate(w *Webhook) {
	r := b.c.RateLimit
	if r == nil {
		return
	}
	switch {
	case r.Requests == nil:
		b.fail("rate_limit.requests", errors.New("missing required field 'rate_limit.requests'"))
	case *r.Requests < 1:
		b.fail("rate_limit.requests", errors.New("rate_limit.requests must be at least 1"))
	default:
		w.requests = *r.Requests
	}
	switch {
	case r.Per == nil:
		b.fail("rate_limit.per", errors.New("missing required field 'rate_limit.per'"))
	case *r.Per <= 0:
		b.fail("rate_limit.per", errors.New("rate_limit.per must be greater than zero"))
	default:
		w.per = r.Per.Std()
	}
}
