// Package otlptest has a receiver of OTLP for tests: it keeps the log records that arrive,
// over gRPC or HTTP, and answers as the test wants it to.
package otlptest

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // requests may be zipped
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/sluicehq/sluice/otlp"
)

// Receiver keeps what arrives. Its methods may be called from any goroutine.
type Receiver struct {
	tb testing.TB

	mu       sync.Mutex // guards the rest
	requests []*logspb.LogsData
	answer   func(request int) (answer []byte, err error)
	headers  []http.Header
}

// New returns a receiver without a listener.
func New(tb testing.TB) *Receiver {
	tb.Helper()
	return &Receiver{tb: tb}
}

// Answer has f answer to the requests, which it counts from 1. What it answers with an
// error does not count as arrived; over HTTP, an error is for ServeHTTP's caller to use.
func (r *Receiver) Answer(f func(request int) (answer []byte, err error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

func (r *Receiver) take(content []byte) ([]byte, error) {
	data := &logspb.LogsData{}
	if err := proto.Unmarshal(content, data); err != nil {
		r.tb.Errorf("a request is no protobuf: %v", err)
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, data)
	if r.answer == nil {
		return nil, nil
	}
	answer, err := r.answer(len(r.requests))
	if err != nil {
		r.requests[len(r.requests)-1] = &logspb.LogsData{}
	}
	return answer, err
}

// Requests are what was taken and refused; a refused one is empty.
func (r *Receiver) Requests() []*logspb.LogsData {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Headers are those of the requests over HTTP.
func (r *Receiver) Headers() []http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.headers)
}

// Records are the log records that were taken.
func (r *Receiver) Records() (all []*logspb.LogRecord) {
	for _, request := range r.Requests() {
		for _, resource := range request.GetResourceLogs() {
			for _, scope := range resource.GetScopeLogs() {
				all = append(all, scope.GetLogRecords()...)
			}
		}
	}
	return all
}

// Bodies are the bodies of the records that were taken.
func (r *Receiver) Bodies() (all []string) {
	for _, record := range r.Records() {
		all = append(all, record.GetBody().GetStringValue())
	}
	return all
}

// ServeHTTP takes a request over HTTP.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body := io.Reader(request.Body)
	if request.Header.Get("Content-Encoding") == "gzip" {
		zipped, err := gzip.NewReader(body)
		if err != nil {
			r.tb.Errorf("a request is not zipped: %v", err)
			return
		}
		body = zipped
	}
	content, err := io.ReadAll(body)
	if err != nil {
		return
	}
	if request.Method != http.MethodPost || request.URL.Path != otlp.Path || request.Header.Get("Content-Type") != "application/x-protobuf" {
		r.tb.Errorf("got %s %s of type %q", request.Method, request.URL.Path, request.Header.Get("Content-Type"))
	}
	r.mu.Lock()
	r.headers = append(r.headers, request.Header.Clone())
	r.mu.Unlock()
	answer, err := r.take(content)
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(answer)
}

// ServeHTTPOn serves HTTP on l until the test ends.
func (r *Receiver) ServeHTTPOn(l net.Listener) {
	server := &http.Server{Handler: r}
	r.serve(func() error { return server.Serve(l) }, func() { _ = server.Close() })
}

// ServeGRPCOn serves gRPC on l until the test ends, with TLS unless config is nil.
func (r *Receiver) ServeGRPCOn(l net.Listener, config *tls.Config) {
	options := []grpc.ServerOption{grpc.ForceServerCodecV2(raw{}), grpc.MaxRecvMsgSize(64 << 20), grpc.MaxSendMsgSize(256 << 20)}
	if config != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(config)))
	}
	server := grpc.NewServer(options...)
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "opentelemetry.proto.collector.logs.v1.LogsService", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Export",
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				var content []byte
				if err := decode(&content); err != nil {
					return nil, err
				}
				answer, err := r.take(content)
				return &answer, err
			},
		}},
	}, r)
	r.serve(func() error { return server.Serve(l) }, server.Stop)
}

func (r *Receiver) serve(run func() error, stop func()) {
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	r.tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, grpc.ErrServerStopped) {
			r.tb.Error(err)
		}
	})
}

// raw passes messages as they are.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	content, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("a message is a %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(*content)}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	content, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("a message is a %T", v)
	}
	*content = data.Materialize()
	return nil
}

// Discard are the options of a gRPC server that takes every request and keeps nothing.
func Discard() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.ForceServerCodecV2(raw{}), grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
		var content []byte
		if err := s.RecvMsg(&content); err != nil {
			return err
		}
		return s.SendMsg(&[]byte{})
	})}
}

// Serve takes every request and keeps nothing, over "grpc" or "http", until standard input
// ends. It prints its address.
func Serve(protocol string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	failed := make(chan error, 1)
	go func() {
		if protocol == "grpc" {
			failed <- grpc.NewServer(Discard()...).Serve(l)
			return
		}
		failed <- http.Serve(l, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	}()
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	select {
	case err := <-failed:
		return err
	case <-ended:
		return nil
	}
}
