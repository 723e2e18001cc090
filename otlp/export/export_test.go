package export_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/otlp"
	"github.com/sluicehq/sluice/otlp/export"
	"github.com/sluicehq/sluice/otlp/otlptest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func bytesField(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

// partial is an answer that rejects records.
func partial(rejected uint64, message string) []byte {
	inner := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), rejected)
	return bytesField(1, append(inner, bytesField(2, []byte(message))...))
}

// request has one record.
func request(body string) *otlp.Request {
	r := otlp.NewRequest("sluice", "1.0.0")
	r.Add(otlp.AppendBody(nil, body))
	return r
}

func client(t *testing.T, o export.Options) *export.Client {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	o.Now, o.Agent = time.Now, "sluice/1.0.0"
	c, err := export.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// want is how a request ends.
type want struct {
	text      string // of the error; "" for none
	permanent bool
	after     time.Duration
	partial   bool
}

func check(t *testing.T, err error, w want) {
	t.Helper()
	if w.text == "" {
		if err != nil {
			t.Errorf("got error %v, want none", err)
		}
		return
	}
	if err == nil || !strings.Contains(err.Error(), w.text) {
		t.Errorf("got error %v, want one with %q", err, w.text)
		return
	}
	var p *export.Partial
	if errors.As(err, &p) != w.partial {
		t.Errorf("got a %T (%v), want a partial success: %t", err, err, w.partial)
		return
	}
	var f *export.Failure
	if w.partial {
		return
	}
	if !errors.As(err, &f) || f.Permanent() != w.permanent || f.RetryAfter() != w.after {
		t.Errorf("%v: permanent %t after %s, want %t after %s", err, f.Permanent(), f.RetryAfter(), w.permanent, w.after)
	}
}

func TestAnswersOverHTTP(t *testing.T) {
	answer := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header)-1; i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			if len(header)%2 == 1 {
				_, _ = io.WriteString(w, header[len(header)-1])
			}
		}
	}
	const protobuf = "application/x-protobuf"
	for _, tc := range []struct {
		name    string
		handler http.HandlerFunc
		want    want
	}{
		{"200 is delivered", answer(200), want{}},
		{"so is 202 with no body", answer(202), want{}},
		{"200 with garbage is delivered", answer(200, "Content-Type", "text/html", "<html>welcome</html>"), want{}},
		{"200 with garbage that calls itself protobuf", answer(200, "Content-Type", protobuf, "\xff\xff\xffgarbage"), want{}},
		{"nothing is rejected", answer(200, "Content-Type", protobuf, string(partial(0, "slow down"))), want{}},
		{"a partial success", answer(200, "Content-Type", protobuf, string(partial(1, "too\nold"))), want{text: "1 of 1 log record rejected by the receiver: too old", partial: true}},
		{"429", answer(429), want{text: "HTTP 429 Too Many Requests"}},
		{"429 with a delay", answer(429, "Retry-After", "7"), want{text: "HTTP 429", after: 7 * time.Second}},
		{"a delay for too long", answer(503, "Retry-After", "86400"), want{text: "HTTP 503", after: time.Minute}},
		{"a delay beyond all numbers", answer(503, "Retry-After", "99999999999999999999999"), want{text: "HTTP 503", after: time.Minute}},
		{"a delay in the past", answer(503, "Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT"), want{text: "HTTP 503"}},
		{"a date far ahead", answer(503, "Retry-After", "Wed, 21 Oct 2999 07:28:00 GMT"), want{text: "HTTP 503", after: time.Minute}},
		{"a delay that is none", answer(503, "Retry-After", "-1"), want{text: "HTTP 503"}},
		{"502", answer(502), want{text: "HTTP 502 Bad Gateway"}},
		{"503", answer(503), want{text: "HTTP 503 Service Unavailable"}},
		{"504", answer(504), want{text: "HTTP 504 Gateway Timeout"}},
		{"400 is permanent, and tells why", answer(400, "Content-Type", protobuf, string(bytesField(2, []byte("bad record\x1b[2J")))), want{text: "HTTP 400 Bad Request: bad record [2J", permanent: true}},
		{"401", answer(401, "Retry-After", "7"), want{text: "HTTP 401 Unauthorized", permanent: true}},
		{"413", answer(413), want{text: "HTTP 413", permanent: true}},
		{"500", answer(500), want{text: "HTTP 500 Internal Server Error", permanent: true}},
		{"a redirect is not followed", answer(307, "Location", "/elsewhere"), want{text: "HTTP 307 Temporary Redirect, which is not followed, to /elsewhere", permanent: true}},
		{"a connection that is cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, want{text: "EOF"}},
		{"a header that does not end", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Long", strings.Repeat("x", 1<<20))
		}, want{text: "server response headers exceeded"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				tc.handler(w, r)
			}))
			defer server.Close()
			c := client(t, export.Options{Endpoint: server.Listener.Addr().String(), HTTP: true})
			check(t, c.Send(t.Context(), request("x")), tc.want)
			if n := asked.Load(); n != 1 {
				t.Errorf("%d requests, want one", n)
			}
		})
	}
}

func TestAnAnswerThatDripsIsLeftAfterASecond(t *testing.T) {
	for _, tc := range []struct {
		code int
		want want
	}{{200, want{}}, {400, want{text: "HTTP 400 Bad Request", permanent: true}}} {
		t.Run(http.StatusText(tc.code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network, over := otlptest.NewNetwork(net.Pipe), make(chan struct{})
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer close(over)
					_, _ = io.Copy(io.Discard, r.Body)
					w.Header().Set("Content-Type", "application/x-protobuf")
					w.WriteHeader(tc.code)
					for r.Context().Err() == nil {
						_, _ = io.WriteString(w, "x")
						w.(http.Flusher).Flush()
						time.Sleep(100 * time.Millisecond)
					}
				})}
				go func() { _ = server.Serve(network) }()
				defer server.Close()
				c := client(t, export.Options{Endpoint: "collector:1", HTTP: true, Dial: network.Dial})
				begun := time.Now()
				check(t, c.Send(t.Context(), request("x")), tc.want)
				if took := time.Since(begun); took != time.Second {
					t.Errorf("the request took %s, want a second", took)
				}
				<-over
			})
		})
	}
}

func TestAnswersOverGRPC(t *testing.T) {
	with := func(code codes.Code, details ...*errdetails.RetryInfo) error {
		s := status.New(code, "a reason")
		for _, d := range details {
			s, _ = s.WithDetails(d)
		}
		return s.Err()
	}
	seconds := func(n int64) *errdetails.RetryInfo {
		return &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Duration(n) * time.Second)}
	}
	for _, tc := range []struct {
		name   string
		answer []byte
		err    error
		want   want
	}{
		{"OK", nil, nil, want{}},
		{"OK with garbage", []byte("\xff\xffgarbage"), nil, want{}},
		{"a partial success", partial(1, "too old"), nil, want{text: "1 of 1 log record rejected by the receiver: too old", partial: true}},
		{"canceled", nil, with(codes.Canceled), want{text: "gRPC Canceled: a reason"}},
		{"deadline exceeded", nil, with(codes.DeadlineExceeded), want{text: "gRPC DeadlineExceeded"}},
		{"aborted", nil, with(codes.Aborted), want{text: "gRPC Aborted"}},
		{"out of range", nil, with(codes.OutOfRange), want{text: "gRPC OutOfRange"}},
		{"unavailable", nil, with(codes.Unavailable), want{text: "gRPC Unavailable: a reason"}},
		{"unavailable with a delay", nil, with(codes.Unavailable, seconds(5)), want{text: "gRPC Unavailable", after: 5 * time.Second}},
		{"a delay for too long", nil, with(codes.Unavailable, seconds(3600)), want{text: "gRPC Unavailable", after: time.Minute}},
		{"a delay below nothing", nil, with(codes.Unavailable, seconds(-5)), want{text: "gRPC Unavailable"}},
		{"data loss", nil, with(codes.DataLoss), want{text: "gRPC DataLoss"}},
		{"exhausted with a delay", nil, with(codes.ResourceExhausted, seconds(2)), want{text: "gRPC ResourceExhausted", after: 2 * time.Second}},
		{"exhausted with an empty delay", nil, with(codes.ResourceExhausted, &errdetails.RetryInfo{}), want{text: "gRPC ResourceExhausted"}},
		{"exhausted for good", nil, with(codes.ResourceExhausted), want{text: "gRPC ResourceExhausted", permanent: true}},
		{"unknown", nil, with(codes.Unknown), want{text: "gRPC Unknown", permanent: true}},
		{"invalid argument", nil, with(codes.InvalidArgument), want{text: "gRPC InvalidArgument: a reason", permanent: true}},
		{"not found", nil, with(codes.NotFound), want{text: "gRPC NotFound", permanent: true}},
		{"permission denied", nil, with(codes.PermissionDenied), want{text: "gRPC PermissionDenied", permanent: true}},
		{"failed precondition", nil, with(codes.FailedPrecondition), want{text: "gRPC FailedPrecondition", permanent: true}},
		{"unimplemented", nil, with(codes.Unimplemented), want{text: "gRPC Unimplemented", permanent: true}},
		{"internal", nil, with(codes.Internal), want{text: "gRPC Internal", permanent: true}},
		{"unauthenticated", nil, with(codes.Unauthenticated), want{text: "gRPC Unauthenticated", permanent: true}},
		{"an answer of 100 MB is not read", make([]byte, 100<<20), nil, want{text: "gRPC ResourceExhausted", permanent: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			receiver, l := otlptest.New(t), listen(t)
			receiver.Answer(func(int) ([]byte, error) { return tc.answer, tc.err })
			receiver.ServeGRPCOn(l, nil)
			c := client(t, export.Options{Endpoint: l.Addr().String()})
			check(t, c.Send(t.Context(), request("x")), tc.want)
			if n := len(receiver.Requests()); n != 1 {
				t.Errorf("%d requests, want one", n)
			}
		})
	}
}

func TestAnAnswerWithoutEndIsReadToABound(t *testing.T) {
	var sent atomic.Int64
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-protobuf")
		for piece := make([]byte, 64<<10); sent.Load() < 100<<20; {
			n, err := w.Write(piece)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	defer server.Close()
	c := client(t, export.Options{Endpoint: server.Listener.Addr().String(), HTTP: true})
	check(t, c.Send(t.Context(), request("x")), want{})
	<-ended
	if n := sent.Load(); n > 32<<20 { // what the buffers of the system take beside the 64 KiB
		t.Errorf("%d bytes of the answer were taken", n)
	}
}

func TestAServerThatHangs(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    export.Options
	}{{"gRPC", export.Options{}}, {"HTTP", export.Options{HTTP: true}}, {"gRPC with TLS", export.Options{TLS: &export.TLS{}}}, {"HTTP with TLS", export.Options{HTTP: true, TLS: &export.TLS{}}}} {
		t.Run(tc.name, func(t *testing.T) {
			l := listen(t)
			var conns []net.Conn
			accepted := make(chan struct{})
			go func() {
				defer close(accepted)
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					conns = append(conns, c)
				}
			}()
			defer func() {
				_ = l.Close()
				<-accepted
				for _, c := range conns {
					_ = c.Close()
				}
			}()
			tc.o.Endpoint, tc.o.Timeout = l.Addr().String(), 50*time.Millisecond
			c := client(t, tc.o)
			check(t, c.Send(t.Context(), request("x")), want{text: "no answer within 50ms"})
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := c.Send(ctx, request("x")); err == nil {
				t.Error("a request without time was sent")
			}
		})
	}
}

func TestAServerThatClosesItsHalf(t *testing.T) {
	for _, tc := range []struct {
		name   string
		http   bool
		answer string
		want   want
	}{
		{"HTTP without an answer", true, "", want{text: "EOF"}},
		{"HTTP in the middle of the status", true, "HTTP/1.1 20", want{text: "malformed HTTP status code"}},
		{"HTTP that is none", true, "220 mail.example.org ESMTP\r\n", want{text: "malformed HTTP status code"}},
		{"HTTP in the middle of an answer", true, "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 100\r\n\r\nhalf", want{}},
		{"gRPC without an answer", false, "", want{text: "gRPC Unavailable"}},
		{"gRPC that is none", false, "HTTP/1.1 400 Bad Request\r\n\r\n", want{text: "gRPC Unavailable"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := listen(t)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = c.Read(make([]byte, 1<<10))
					_, _ = io.WriteString(c, tc.answer)
					_ = c.(*net.TCPConn).CloseWrite()
					_, _ = io.Copy(io.Discard, c)
					_ = c.Close()
				}
			}()
			c := client(t, export.Options{Endpoint: l.Addr().String(), HTTP: tc.http})
			check(t, c.Send(t.Context(), request("x")), tc.want)
			_ = l.Close()
			_ = c.Close()
			<-ended
		})
	}
}

func TestNobodyListens(t *testing.T) {
	l := listen(t)
	_ = l.Close()
	for _, overHTTP := range []bool{false, true} {
		c := client(t, export.Options{Endpoint: l.Addr().String(), HTTP: overHTTP})
		for range 2 {
			check(t, c.Send(t.Context(), request("x")), want{text: "connection refused"})
		}
	}
}

func TestAServerThatComesBackIsFoundByTheNextRequest(t *testing.T) {
	for _, overHTTP := range []bool{false, true} {
		t.Run(fmt.Sprintf("over HTTP: %t", overHTTP), func(t *testing.T) {
			network := otlptest.NewNetwork(net.Pipe)
			receiver := otlptest.New(t)
			if overHTTP {
				receiver.ServeHTTPOn(network)
			} else {
				receiver.ServeGRPCOn(network, nil)
			}
			c := client(t, export.Options{Endpoint: "collector:1", HTTP: overHTTP, Dial: network.Dial})
			for round := range 3 {
				check(t, c.Send(t.Context(), request("x")), want{})
				mend := network.Cut()
				for range 5 { // a library's own pauses would grow
					if err := c.Send(t.Context(), request("x")); err == nil {
						t.Error("sent over a network that is down")
					}
				}
				mend()
				check(t, c.Send(t.Context(), request("y")), want{})
				if n := len(receiver.Bodies()); n != 2*round+2 {
					t.Errorf("%d records arrived, want %d", n, 2*round+2)
				}
			}
		})
	}
}

func TestRequestsSayWhoSendsThem(t *testing.T) {
	for _, zipped := range []bool{false, true} {
		receiver, l := otlptest.New(t), listen(t)
		receiver.ServeHTTPOn(l)
		c := client(t, export.Options{Endpoint: l.Addr().String(), HTTP: true, Gzip: zipped})
		for range 3 {
			check(t, c.Send(t.Context(), request(strings.Repeat("body ", 10_000))), want{})
		}
		for i, h := range receiver.Headers() {
			if h.Get("User-Agent") != "sluice/1.0.0" || (h.Get("Content-Encoding") == "gzip") != zipped || (h.Get("Content-Length") == "") {
				t.Errorf("got headers %v", h)
			}
			if zipped && len(h.Get("Content-Length")) > 3 {
				t.Errorf("request %d has %s bytes, want fewer", i, h.Get("Content-Length"))
			}
		}
		if got := receiver.Bodies(); len(got) != 3 || got[2] != strings.Repeat("body ", 10_000) {
			t.Errorf("%d records arrived, want three whole ones", len(got))
		}
	}
}

func TestAServerThatRefusesBeforeItHasReadAll(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 1<<20 {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer server.Close()
	c := client(t, export.Options{Endpoint: server.Listener.Addr().String(), HTTP: true})
	for range 3 {
		if err := c.Send(t.Context(), request(strings.Repeat("x", 16<<20))); err == nil {
			t.Error("got no error") // the answer, or the connection that ends behind it
		}
		check(t, c.Send(t.Context(), request("x")), want{})
	}
}
