package otlp

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/otlp"
	"github.com/sluicehq/sluice/otlp/export"
	"github.com/sluicehq/sluice/otlp/otlptest"
)

// started returns a transport to a receiver over gRPC, and what it logs.
func started(t *testing.T) (*Transport, *otlptest.Receiver, *bytes.Buffer) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := otlptest.New(t)
	r.ServeGRPCOn(l, nil)
	var logged bytes.Buffer
	transport, err := Open("otlp", l.Addr().String(), nil, "1.2.3", time.Now, slog.New(slog.NewTextHandler(&logged, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := transport.Close(); err != nil {
			t.Error(err)
		}
	})
	return transport, r, &logged
}

// messages have the given bodies.
func messages(bodies ...string) (all []graph.Message) {
	e := &graph.Envelope{Time: delivered}
	for i, b := range bodies {
		all = append(all, graph.Message{Envelope: e, Index: i, Kind: graph.KindDetection, Body: otlp.AppendBody(nil, b)})
	}
	return all
}

// rejecting is the answer that rejects records.
func rejecting(n uint64, message string) []byte {
	inner := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), n)
	inner = protowire.AppendString(protowire.AppendTag(inner, 2, protowire.BytesType), message)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
}

func TestABatchIsOneRequestOfOneResource(t *testing.T) {
	transport, receiver, _ := started(t)
	if n, err := transport.Write(t.Context(), messages("a", "b", "c")); n != 3 || err != nil {
		t.Fatalf("%d confirmed, %v, want 3", n, err)
	}
	requests := receiver.Requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests, want one", len(requests))
	}
	resource := requests[0].GetResourceLogs()[0]
	attribute := resource.GetResource().GetAttributes()[0]
	scope := resource.GetScopeLogs()[0].GetScope()
	if attribute.Key != "service.name" || attribute.Value.GetStringValue() != "sluice" || scope.Name != "sluice" || scope.Version != "1.2.3" {
		t.Errorf("resource %v, scope %v", attribute, scope)
	}
	if got := fmt.Sprint(receiver.Bodies()); got != "[a b c]" {
		t.Errorf("records %s, want [a b c]", got)
	}
}

func TestADeadLetterIsABodyAndNothingElse(t *testing.T) {
	transport, receiver, _ := started(t)
	line := `{"original_event":"x","error":"parse error"}`
	m := []graph.Message{{Envelope: &graph.Envelope{Time: delivered}, Kind: graph.KindDeadLetter, Body: AppendLine(nil, []byte(line))}}
	if n, err := transport.Write(t.Context(), m); n != 1 || err != nil {
		t.Fatalf("%d confirmed, %v, want 1", n, err)
	}
	got := receiver.Records()[0]
	want := &logspb.LogRecord{Body: got.Body}
	if got.Body.GetStringValue() != line || got.String() != want.String() {
		t.Errorf("got %v, want the line as the body and nothing else", got)
	}
}

func TestALongBatchIsSeveralRequests(t *testing.T) {
	transport, receiver, _ := started(t)
	long := strings.Repeat("x", maxRequest/2)
	if n, err := transport.Write(t.Context(), messages("a", long, "b", long, long+long+long, "c")); n != 6 || err != nil {
		t.Fatalf("%d confirmed, %v, want 6", n, err)
	}
	var sizes []int
	for _, r := range receiver.Requests() {
		sizes = append(sizes, len(r.GetResourceLogs()[0].GetScopeLogs()[0].GetLogRecords()))
	}
	if got := fmt.Sprint(sizes); got != "[3 1 1 1]" {
		t.Errorf("requests of %s records, want [3 1 1 1]", got)
	}
}

func TestWhatWasTakenBeforeAFailureIsConfirmed(t *testing.T) {
	transport, receiver, _ := started(t)
	receiver.Answer(func(request int) ([]byte, error) {
		if request == 2 {
			return nil, status.Error(codes.InvalidArgument, "bad")
		}
		return nil, nil
	})
	long := strings.Repeat("x", maxRequest/2)
	all := messages("a", long, long, "b", "c")
	n, err := transport.Write(t.Context(), all)
	var about interface{ Messages() int }
	var failure *export.Failure
	if n != 2 || !errors.As(err, &about) || about.Messages() != 3 || !errors.As(err, &failure) || !failure.Permanent() {
		t.Fatalf("%d confirmed, %v, want 2 and a permanent error about 3", n, err)
	}
	if n, err := transport.Write(t.Context(), all[2:]); n != 3 || err != nil {
		t.Errorf("%d confirmed, %v, want 3", n, err)
	}
}

func TestAPartialSuccessConfirmsAllAndTells(t *testing.T) {
	transport, receiver, _ := started(t)
	long := strings.Repeat("x", maxRequest/2)
	receiver.Answer(func(request int) ([]byte, error) {
		switch request {
		case 1:
			return rejecting(2, "too old"), nil
		case 2:
			return nil, status.Error(codes.Unavailable, "away")
		}
		return nil, nil
	})
	all := messages("a", long, long, "b")
	if n, err := transport.Write(t.Context(), all); n != 2 || err == nil || !strings.Contains(err.Error(), "away") {
		t.Fatalf("%d confirmed, %v, want 2 and the failure of the rest", n, err)
	}
	n, err := transport.Write(t.Context(), all[2:])
	var partial *export.Partial
	if n != 2 || !errors.As(err, &partial) || err.Error() != "2 of 2 log records rejected by the receiver: too old" {
		t.Fatalf("%d confirmed, %v, want all and what was rejected before", n, err)
	}
	if n, err := transport.Write(t.Context(), all[:1]); n != 1 || err != nil {
		t.Errorf("%d confirmed, %v, want one and nothing more to tell", n, err)
	}
}

func TestAReopenReadsCertificatesAgainAndKeepsTheOldOnesAfterAnError(t *testing.T) {
	ours := otlptest.NewAuthority(t, "ours")
	cert, key := ours.Issue("client", time.Now().Add(time.Hour))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	receiver := otlptest.New(t)
	receiver.ServeGRPCOn(l, ours.Server("server", time.Now().Add(time.Hour)))
	var logged bytes.Buffer
	parameters := map[string]string{"ca": ours.File, "client_cert": cert, "client_key": key}
	transport, err := Open("otlps", l.Addr().String(), parameters, "1", time.Now, slog.New(slog.NewTextHandler(&logged, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Close()
	ours.Issue("client", time.Now().Add(-time.Minute)) // over the files of the first
	for range 3 {
		transport.Reopen()
		if n, err := transport.Write(t.Context(), messages("a")); n != 1 || err != nil {
			t.Errorf("%d confirmed, %v, want one by the old certificate", n, err)
		}
	}
	if got := strings.Count(logged.String(), "expired at"); got != 1 {
		t.Errorf("told %d times, want once: %s", got, logged.String())
	}
	ours.Issue("client", time.Now().Add(time.Hour))
	transport.Reopen()
	if n, err := transport.Write(t.Context(), messages("b")); n != 1 || err != nil {
		t.Errorf("%d confirmed, %v, want one by the new certificate", n, err)
	}
}

func TestARenewedCertificateThatCannotBeUsedIsTold(t *testing.T) {
	ours := certstest.New(t, "ours")
	for _, scheme := range []string{"otlps", "otlphttps"} {
		for want, spoil := range ours.Unusable() {
			t.Run(scheme+" "+want, func(t *testing.T) {
				cert, key := ours.Issue("client", time.Hour)
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				config := &tls.Config{
					MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{ours.Pair("server", time.Hour)},
					ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.Pool,
				}
				if receiver := otlptest.New(t); scheme == "otlps" {
					receiver.ServeGRPCOn(l, config)
				} else {
					receiver.ServeHTTPOn(tls.NewListener(l, config))
				}
				var logged bytes.Buffer
				parameters := map[string]string{"ca": ours.File, "client_cert": cert, "client_key": key}
				transport, err := Open(scheme, l.Addr().String(), parameters, "1", time.Now, slog.New(slog.NewTextHandler(&logged, nil)))
				if err != nil {
					t.Fatal(err)
				}
				spoil(cert, key)
				n, err := transport.Write(t.Context(), messages("a"))
				if closed := transport.Close(); n != 1 || err != nil || closed != nil {
					t.Errorf("%d confirmed, %v, %v, want one by the certificate before", n, err, closed)
				}
				if got := logged.String(); !strings.Contains(got, certs.NotRenewed) || !strings.Contains(got, want) {
					t.Errorf("logged %q, want that the certificate %s", got, want)
				}
			})
		}
	}
}
