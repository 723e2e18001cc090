package webhook

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/internal/template"
)

// checkURL reports a URL that no result can make right: the environment never changes,
// and what the policy denies stays denied. A name may resolve later.
func (b *builder) checkURL(w *Webhook) {
	unset := false
	for _, name := range w.form.url.Variables() {
		if b.getenv(name) == "" {
			unset = true
			b.failf("url", "field 'url': the environment variable '%s' is unset or empty", name)
		}
	}
	if unset {
		return
	}
	one, dots := w.form.url.Sample(nil, "a")
	u, err := template.ParseURL(one)
	if err != nil {
		b.failf("url", "field 'url': %w", err)
		return
	}
	if other, err := w.parseSample("b"); err == nil && (other.Host != u.Host || other.User.String() != u.User.String()) {
		b.fail("url", errors.New("field 'url': a reference to a result stands in front of the path: an event may not choose the host"))
		return
	}
	if !dots {
		w.fixedURL = u
	}
	var denied *egress.Denied
	switch err := b.policy.JudgeLiteral(u.Hostname()); {
	case errors.As(err, &denied) && b.policy != "" && b.policy != egress.Default:
		b.failf("url", "field 'url': %w (--egress-policy is %s)", err, b.policy)
	case denied != nil:
		b.failf("url", "field 'url': %w (--egress-policy %s would allow it)", err, egress.Permissive)
	case err != nil:
		b.failf("url", "field 'url': %w", err)
	}
}

func (w *Webhook) parseSample(text string) (*url.URL, error) {
	sample, _ := w.form.url.Sample(nil, text)
	return template.ParseURL(sample)
}

// checkHeader reports a value that cannot be sent. Of what is no host, nothing would be.
func checkHeader(name string, value []byte) error {
	if err := template.CheckHeader(value); err != nil {
		return err
	}
	if strings.EqualFold(name, "Host") && !httpguts.ValidHostHeader(string(value)) {
		return errors.New("it has a character that no host has")
	}
	return nil
}

// checkBody reports a body that is no JSON although its type says so.
func (b *builder) checkBody(f *Form) {
	kind := "application/json"
	if f.contentType >= 0 {
		value := f.headers[f.contentType].value
		if value == nil {
			return
		}
		text, dots := value.Sample(nil, "")
		if dots { // nobody knows
			return
		}
		kind = string(text)
	}
	if !template.IsJSON(kind) {
		return
	}
	if err := f.body.CheckJSON(); err != nil {
		b.fail("body", fmt.Errorf("field 'body' is no JSON, which its Content-Type '%s' says: %w (a header Content-Type such as text/plain sends another text)", kind, err))
	}
}
