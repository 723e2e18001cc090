//go:build !no_otlp

package ingest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/sluicehq/sluice/otlp"
)

const grpcType = "application/grpc"

// Calls serves the logs service of OTLP over gRPC. It reads and writes the messages of
// unary calls itself, on the streams of the server that hands it the calls, so that they
// are bounded in time and in memory like all other requests.
type Calls struct {
	allow  func(ctx context.Context, method, permission string) (context.Context, error)
	intake atomic.Pointer[Intake]
}

// NewCalls returns a handler of calls that answers UNAVAILABLE until Mount. Each call asks
// allow, whose errors are statuses.
func NewCalls(allow func(ctx context.Context, method, permission string) (context.Context, error)) *Calls {
	return &Calls{allow: allow}
}

// Mount has calls taken in from now on.
func (c *Calls) Mount(n *Intake) { c.intake.Store(n) }

// ServeHTTP answers a call.
func (c *Calls) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := c.serve(r)
	h := w.Header()
	h.Set("Content-Type", grpcType)
	h.Set("Grpc-Accept-Encoding", "identity,gzip")
	if err != nil {
		s := status.Convert(err)
		h.Set("Grpc-Status", strconv.Itoa(int(s.Code())))
		h.Set("Grpc-Message", percentEncoded(s.Message()))
		w.WriteHeader(http.StatusOK)
		return
	}
	h.Set("Trailer", "Grpc-Status")
	frame := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(answer)))
	_, _ = w.Write(append(frame, answer...)) // a client that has left gets nothing
	h.Set("Grpc-Status", "0")
}

func (c *Calls) serve(r *http.Request) (answer []byte, err error) {
	if r.URL.Path != otlp.Method || r.Method != http.MethodPost {
		return nil, status.Error(codes.Unimplemented, "unknown service or method")
	}
	ctx := metadata.NewIncomingContext(r.Context(), metadata.MD{"authorization": r.Header["Authorization"]})
	if ctx, err = c.allow(peer.NewContext(ctx, &peer.Peer{Addr: remote(r.RemoteAddr)}), otlp.Method, Permission); err != nil {
		return nil, err
	}
	n := c.intake.Load()
	if n == nil {
		return nil, status.Error(codes.Unavailable, "starting: rules are still loading")
	}
	if subtype := strings.ToLower(r.Header.Get("Content-Type")[len(grpcType):]); subtype != "" && subtype[0] != ';' && !strings.HasPrefix(subtype, "+proto") {
		n.metrics.refused(overGRPC, reasonType)
		return nil, status.Errorf(codes.Unimplemented, "unsupported content-type: %s (expected application/grpc)", r.Header.Get("Content-Type"))
	}
	if text := r.Header.Get("Grpc-Timeout"); text != "" {
		timeout, ok := parseTimeout(text)
		if !ok {
			return nil, status.Error(codes.Internal, "malformed grpc-timeout")
		}
		bounded, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		ctx = bounded
	}
	o, err := n.call(ctx, r.Header.Get("Grpc-Encoding"), r.Body)
	if err != nil {
		return nil, statusOf(ctx, err)
	}
	return otlp.AppendAnswer(nil, otlp.Answer{Rejected: int64(o.Rejected), Message: o.Message()}), nil
}

// call takes in the one message of a call.
func (n *Intake) call(ctx context.Context, encoding string, src io.Reader) (o Outcome, err error) {
	var head [5]byte
	if _, err := io.ReadFull(src, head[:]); err != nil {
		return o, n.cutOff(ctx, err)
	}
	zipped := head[0] == 1
	switch {
	case head[0] > 1, zipped && (encoding == "" || encoding == "identity"):
		return o, n.refuse(overGRPC, reasonDecompression, Malformed, "a message is compressed, and no grpc-encoding says how")
	case zipped && encoding != "gzip":
		return o, n.refuse(overGRPC, reasonDecompression, UnknownEncoding, "unsupported grpc-encoding: "+encoding)
	}
	size, why := int64(binary.BigEndian.Uint32(head[1:])), reasonDecode
	if zipped {
		why = reasonDecompression
	}
	if size > n.maxBody {
		return o, n.refuse(overGRPC, why, TooLarge, fmt.Sprintf("request message has %d bytes, more than the %d that are allowed", size, n.maxBody))
	}
	b := body{intake: n}
	defer b.close()
	message := &io.LimitedReader{R: src, N: size}
	if err := n.read(ctx, overGRPC, &b, message, zipped); err != nil {
		var refused *Refusal
		if errors.As(err, &refused) && refused.Kind == TooLarge {
			refused.text = fmt.Sprintf("request message has more than the %d bytes that are allowed", n.maxBody)
		}
		return o, err
	}
	if message.N > 0 {
		return o, n.cutOff(ctx, io.ErrUnexpectedEOF)
	}
	if k, err := io.ReadFull(src, head[:1]); k > 0 || err != io.EOF {
		if k > 0 {
			return o, n.refuse(overGRPC, reasonDecode, Malformed, "more than one request message")
		}
		return o, n.cutOff(ctx, err)
	}
	records, err := check(b.bytes)
	if err != nil {
		return o, n.refuse(overGRPC, reasonDecode, Malformed, "protobuf decode error: "+err.Error())
	}
	n.metrics.took(overGRPC, encodingProtobuf, records)
	o.Rejected, err = n.take(ctx, overGRPC, b.bytes)
	return o, err
}

// cutOff is a message that does not come to its end.
func (n *Intake) cutOff(ctx context.Context, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n.refuse(overGRPC, reasonDecode, Malformed, "the request message ends too early")
	}
	n.broken(ctx, overGRPC, err)
	return err
}

// statusOf maps the errors of a call.
func statusOf(ctx context.Context, err error) error {
	var refused *Refusal
	var known interface{ Status() int }
	code, text := codes.Internal, err.Error()
	switch {
	case errors.As(err, &refused):
		code = refused.code()
	case errors.Is(err, ErrDraining):
		code = codes.Unavailable
	case ctx.Err() != nil:
		return status.FromContextError(ctx.Err()).Err()
	case errors.As(err, &known) && known.Status() == statusUnavailable:
		code, text = codes.Unavailable, ErrDraining.Error()
	case errors.As(err, &known):
		code = codes.DeadlineExceeded
	}
	return status.Error(code, text)
}

func (r *Refusal) code() codes.Code {
	switch r.Kind {
	case TooLarge:
		return codes.ResourceExhausted
	case UnknownType, UnknownEncoding:
		return codes.Unimplemented
	case Exhausted:
		return codes.Unavailable
	}
	return codes.InvalidArgument
}

// remote is the address of a client.
type remote string

// Network implements net.Addr.
func (remote) Network() string { return "tcp" }

// String implements net.Addr.
func (r remote) String() string { return string(r) }

// parseTimeout reads up to eight digits and a unit.
func parseTimeout(text string) (time.Duration, bool) {
	units := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond}
	last := len(text) - 1
	unit, ok := units[text[last]]
	n, err := strconv.ParseUint(text[:last], 10, 64)
	if !ok || err != nil || last > 8 {
		return 0, false
	}
	if longest := uint64(1<<63-1) / uint64(unit); n > longest {
		n = longest
	}
	return time.Duration(n) * unit, true
}

// percentEncoded is a message as a header may have it.
func percentEncoded(text string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '%' {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
