package export

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/sluicehq/sluice/otlp"
)

// grpcExporter exports over gRPC.
type grpcExporter struct {
	o    Options
	tls  *tls.Config
	conn *grpc.ClientConn // nil before the first request, and after one that found no server
}

func (g *grpcExporter) use(c *tls.Config) {
	g.tls = c
	_ = g.close()
}

func (g *grpcExporter) close() error {
	conn := g.conn
	if g.conn = nil; conn == nil {
		return nil
	}
	return conn.Close()
}

func (g *grpcExporter) connect() error {
	secure := insecure.NewCredentials()
	if g.tls != nil {
		secure = credentials.NewTLS(g.tls)
	}
	call := []grpc.CallOption{grpc.ForceCodecV2(codec{}), grpc.MaxCallRecvMsgSize(maxAnswer)}
	if g.o.Gzip {
		call = append(call, grpc.UseCompressor(gzip.Name))
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(secure), grpc.WithUserAgent(g.o.Agent), grpc.WithDefaultCallOptions(call...), grpc.WithDisableServiceConfig(),
		grpc.WithWriteBufferSize(writeBuffer),
	}
	if dial := g.o.Dial; dial != nil {
		options = append(options, grpc.WithContextDialer(dialer(dial)))
	}
	conn, err := grpc.NewClient("passthrough:///"+g.o.Endpoint, options...)
	g.conn = conn
	return err
}

func (g *grpcExporter) send(ctx context.Context, r *otlp.Request) (answer []byte, err error) {
	if g.conn == nil {
		if err := g.connect(); err != nil {
			return nil, &Failure{text: fmt.Sprintf("%s: %s", g.o.Endpoint, err), cause: err, permanent: true}
		}
	}
	if err = g.conn.Invoke(ctx, otlp.Method, r, &answer); err == nil {
		return answer, nil
	}
	s := status.Convert(err)
	if g.conn.GetState() != connectivity.Ready || s.Code() == codes.DeadlineExceeded {
		_ = g.close() // the next attempt dials at once, and nothing waits for a connection that is dead
	}
	f := &Failure{text: fmt.Sprintf("%s: gRPC %s: %s", g.o.Endpoint, s.Code(), told(s.Message())), cause: err}
	asked := false
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			asked, f.after = true, info.GetRetryDelay().AsDuration()
		}
	}
	switch s.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.OutOfRange, codes.Unavailable, codes.DataLoss:
	case codes.ResourceExhausted:
		f.permanent = !asked
	default:
		f.permanent = true
	}
	return nil, f
}

// buffers keeps the memory of requests. That of the library clears a MiB for a request of
// a thirtieth of it.
type buffers struct{ idle sync.Pool }

var requests buffers

// Get implements mem.BufferPool.
func (b *buffers) Get(length int) *[]byte {
	if buffer, ok := b.idle.Get().(*[]byte); ok && cap(*buffer) >= length {
		*buffer = (*buffer)[:length]
		return buffer
	}
	buffer := make([]byte, length, length+length/4)
	return &buffer
}

// Put implements mem.BufferPool.
func (b *buffers) Put(buffer *[]byte) { b.idle.Put(buffer) }

// codec passes requests and answers as they are.
type codec struct{}

// Name is what the content type says.
func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	r, ok := v.(*otlp.Request)
	if !ok {
		return nil, fmt.Errorf("a request is a %T", v)
	}
	buffer := requests.Get(r.Size())
	*buffer = r.Append((*buffer)[:0])
	return mem.BufferSlice{mem.NewBuffer(buffer, &requests)}, nil
}

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	answer, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("an answer is a %T", v)
	}
	*answer = data.Materialize()
	return nil
}
