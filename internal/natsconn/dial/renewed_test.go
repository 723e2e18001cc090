package dial_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/logtest"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/dial"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

// A renewed certificate is shown by the next connection; one that cannot be used is told,
// and keeps nobody from connecting.
func TestARenewedCertificateIsShownOrTold(t *testing.T) {
	ours := certstest.New(t, "ours")
	ways := ours.Unusable()
	ways[""] = func(cert, key string) { ours.Renew("second", time.Hour, cert, key) }
	for want, renew := range ways {
		t.Run(want, func(t *testing.T) {
			cert, key := ours.Issue("first", time.Hour)
			var shown atomic.Value // the name in the last client certificate
			s := natstest.Start(t, func(o *server.Options) {
				o.TLS, o.TLSVerify = true, true
				o.TLSConfig = &tls.Config{
					MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{ours.Pair("server", time.Hour)}, ClientCAs: ours.Pool,
					ClientAuth: tls.RequireAndVerifyClientCert,
					VerifyConnection: func(state tls.ConnectionState) error {
						shown.Store(state.PeerCertificates[0].Subject.CommonName)
						return nil
					},
				}
			})
			var log logtest.Buffer
			d := s.Dialer(natsconn.Config{TLSCA: ours.File, TLSCert: cert, TLSKey: key})
			d.Log = slog.New(slog.NewTextHandler(&log, nil))
			url, _, err := natsconn.Address(s.Target(""))
			if err != nil {
				t.Fatal(err)
			}
			lost := make(chan struct{}, 8)
			c, err := d.Connect(url, "test", dial.Events{Lost: func() { lost <- struct{}{} }})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			renew(cert, key)
			c.Cut()
			<-lost
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			for c.Ready(ctx) != nil {
				if ctx.Err() != nil {
					t.Fatal("the connection is not made again")
				}
			}
			name, told := "first", strings.Contains(log.String(), certs.NotRenewed)
			if want == "" {
				name = "second"
			}
			if shown.Load() != name || told != (want != "") || !strings.Contains(log.String(), want) {
				t.Errorf("%v is shown, want %s, and the log to tell %q:\n%s", shown.Load(), name, want, log.String())
			}
		})
	}
}
