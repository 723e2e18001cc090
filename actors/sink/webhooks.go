package sink

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/internal/egress"
)

// KindWebhook is the kind of sinks that files of webhooks describe: no spec names it.
const KindWebhook Kind = "webhook"

// LoadWebhooks reads the webhooks, and reports every fault of their files, addresses that
// the policy denies among them. Getenv gives variables; nil is os.Getenv.
// The log is told what happens to certificates of those that send; nil is none.
func (c Config) LoadWebhooks(policy egress.Policy, getenv func(string) string, log *slog.Logger) ([]*webhook.Webhook, []*webhook.Fault) {
	specs := c.Specs(func(int, error) {}) // whose errors are told by others
	return webhook.Load(c.Webhooks, webhook.LoadOptions{Taken: Labels(specs), Policy: policy, Getenv: getenv, Log: log})
}

// openWebhooks makes a sink of every webhook.
func (o *OutputsOptions) openWebhooks(deadLetters DeadLetters) (sinks []*Sink, err error) {
	all, faults := o.Config.LoadWebhooks(o.Egress, nil, o.Log)
	for _, f := range faults {
		err = errors.Join(err, f)
	}
	if err != nil {
		return nil, err
	}
	clients := WebhookClients(o.Egress, o.Version)
	for _, w := range all {
		s, err := o.openWebhook(w, clients, deadLetters)
		if err != nil {
			return nil, fmt.Errorf("webhook '%s': %w", w.ID, err)
		}
		sinks = append(sinks, s)
	}
	if len(all) > 0 {
		o.Log.Info("webhooks loaded", "count", len(all))
	}
	return sinks, nil
}

// WebhookClients makes the clients of webhooks, which reach the addresses that a policy
// allows.
func WebhookClients(policy egress.Policy, version string) *webhook.Clients {
	return &webhook.Clients{New: func(c *tls.Config) *http.Client {
		return egress.NewClient(egress.Options{Policy: policy, TLS: c, UserAgent: "sluice/" + version})
	}}
}

// RetryOf is how often and how patiently a webhook tries.
func RetryOf(w *webhook.Webhook) Retry {
	return Retry{Max: w.Attempts - 1, Base: w.Backoff, Cap: w.MaxBackoff}
}

func (o *OutputsOptions) openWebhook(w *webhook.Webhook, clients *webhook.Clients, deadLetters DeadLetters) (*Sink, error) {
	capacity, given := o.Capacities["sink:"+w.ID]
	if !given {
		capacity = w.QueueSize
	}
	return New(Options{
		Label: w.ID, Kind: KindWebhook, OnFull: Drop, Form: w.Form(), Transport: clients.Open(w, o.Metrics.webhooks, o.Log),
		Retry: RetryOf(w), BatchMax: 1,
		Capacity: capacity, Bytes: o.Bytes, DeadLetters: deadLetters, Metrics: o.Metrics, Log: o.Log,
	})
}
