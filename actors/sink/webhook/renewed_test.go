package webhook_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/egress"
)

// A client certificate that cannot be used is a fault when the webhook is read, and told
// by the log when it has been renewed since, with the one before in use.
func TestAClientCertificateThatCannotBeUsedIsTold(t *testing.T) {
	ours := certstest.New(t, "ours")
	for want, spoil := range ours.Unusable() {
		t.Run(want, func(t *testing.T) {
			cert, key := ours.Issue("client", time.Hour)
			to := answers(200)
			server := serveTLS(t, to, false, &tls.Config{
				Certificates: []tls.Certificate{ours.Pair("server", time.Hour)}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.Pool,
			})
			file := filepath.Join(t.TempDir(), "w.yml")
			write(t, file, "webhooks:\n  - id: w\n    kind: detection\n    url: "+server.URL+"\n    tls: {ca: "+ours.File+", client_cert: "+cert+", client_key: "+key+"}\n"+titleBody)
			var logged bytes.Buffer
			loaded, faults := webhook.Load([]string{file}, webhook.LoadOptions{Log: slog.New(slog.NewTextHandler(&logged, nil))})
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			spoil(cert, key)
			b := newBench(t, loaded[0], egressClient(egress.Options{}), nil)
			b.end(t, 1, "x")
			b.close()
			if got := logged.String(); len(to.all()) != 1 || !strings.Contains(got, certs.NotRenewed) || !strings.Contains(got, want) || !strings.Contains(got, "sink=w") {
				t.Errorf("%d requests, logged %q, want one, and that the certificate %s", len(to.all()), got, want)
			}
			_, faults = webhook.Load([]string{file}, webhook.LoadOptions{})
			if len(faults) != 1 || !strings.Contains(faults[0].Error(), "tls.client_") || !strings.Contains(faults[0].Error(), want) {
				t.Errorf("faults %v, want one that says %s", faults, want)
			}
		})
	}
}
