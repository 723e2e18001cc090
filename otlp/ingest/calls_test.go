//go:build !no_otlp

package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	grpcgzip "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluicehq/sluice/http/auth"
	"github.com/sluicehq/sluice/http/server"
	"github.com/sluicehq/sluice/otlp"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

// open lets every call pass.
var open = (*auth.Gate)(nil).Call

// callServer serves calls on a real server.
func callServer(t *testing.T, c *Calls) *server.Server {
	t.Helper()
	addr, err := server.ParseAddress("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Listen(addr, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.MountCalls(c)
	served := make(chan error, 1)
	go func() { served <- s.Serve(http.NotFoundHandler()) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s
}

func dial(t *testing.T, s *server.Server) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(s.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// export makes a call, and returns what the answer says.
func export(ctx context.Context, conn *grpc.ClientConn, request *logspb.LogsData, options ...grpc.CallOption) (otlp.Answer, error) {
	var answer emptypb.Empty
	if err := conn.Invoke(ctx, otlp.Method, request, &answer, options...); err != nil {
		return otlp.Answer{}, err
	}
	b, err := proto.Marshal(&answer)
	if err != nil {
		return otlp.Answer{}, err
	}
	return otlp.ParseAnswer(b)
}

func requestOf(tb testing.TB, bodies ...string) *logspb.LogsData {
	tb.Helper()
	records := make([]string, len(bodies))
	for i, body := range bodies {
		records[i] = `{"body":{"stringValue":"` + body + `"}}`
	}
	request := &logspb.LogsData{}
	if err := proto.Unmarshal(fromJSON(tb, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[`+strings.Join(records, ",")+`]}]}]}`), request); err != nil {
		tb.Fatal(err)
	}
	return request
}

// seriesOf are the series that have counted.
func seriesOf(t *testing.T, reg *prometheus.Registry) (got []string) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := []string{}
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			if v := m.GetCounter().GetValue(); v > 0 {
				got = append(got, fmt.Sprintf("%s %s %g", strings.TrimSuffix(f.GetName(), "_total"), strings.Join(labels, " "), v))
			}
		}
	}
	return got
}

func TestLogRecordsOverGRPC(t *testing.T) {
	const limit = 4 << 20
	long := strings.Repeat("x", sources.MaxLine)
	huge := slices.Repeat([]string{strings.Repeat("x", 1<<19)}, 9)
	for _, tc := range []struct {
		name    string
		bodies  []string
		options []grpc.CallOption
		want    otlp.Answer
		code    codes.Code
		message string
		events  []string
		series  []string
	}{
		{"records", []string{"a", "b"}, nil, otlp.Answer{}, codes.OK, "", []string{`{"body":"a"}`, `{"body":"b"}`}, []string{"otlp_log_records  2", "otlp_requests protobuf grpc 1"}},
		{"zipped", []string{"a"}, []grpc.CallOption{grpc.UseCompressor(grpcgzip.Name)}, otlp.Answer{}, codes.OK, "", []string{`{"body":"a"}`}, []string{"otlp_log_records  1", "otlp_requests protobuf grpc 1"}},
		{"none", nil, nil, otlp.Answer{}, codes.OK, "", nil, []string{"otlp_requests protobuf grpc 1"}},
		{
			"a record that is too long",
			[]string{"a", long, "b"},
			nil,
			otlp.Answer{Rejected: 1, Message: "log records that exceed the maximum size of an event (1048576 bytes): 1"},
			codes.OK, "",
			[]string{`{"body":"a"}`, `{"body":"b"}`},
			[]string{"otlp_log_records  3", "otlp_requests protobuf grpc 1"},
		},
		{"a message over the limit", huge, nil, otlp.Answer{}, codes.ResourceExhausted, "request message has 4718710 bytes, more than the 4194304 that are allowed", nil, []string{"otlp_errors decode grpc 1"}},
		{
			"a message that inflates beyond the limit", huge,
			[]grpc.CallOption{grpc.UseCompressor(grpcgzip.Name)},
			otlp.Answer{},
			codes.ResourceExhausted,
			"request message has more than the 4194304 bytes that are allowed", nil,
			[]string{"otlp_errors decompression grpc 1"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := sourcetest.NewIntake(10)
			m, reg := newTestMetrics(t)
			calls := NewCalls(open)
			calls.Mount(NewIntake(in, limit, m))
			got, err := export(t.Context(), dial(t, callServer(t, calls)), requestOf(t, tc.bodies...), tc.options...)
			if s := status.Convert(err); got != tc.want || s.Code() != tc.code || s.Message() != tc.message {
				t.Errorf("got %+v, %v, want %+v, %s %s", got, err, tc.want, tc.code, tc.message)
			}
			if got := in.Lines(); !slices.Equal(got, tc.events) {
				t.Errorf("got events %q, want %q", got, tc.events)
			}
			if got := seriesOf(t, reg); !slices.Equal(got, tc.series) {
				t.Errorf("got series %q, want %q", got, tc.series)
			}
		})
	}
}

func TestCallsBeforeAndAfterTheTimeOfRecords(t *testing.T) {
	calls := NewCalls(open)
	conn := dial(t, callServer(t, calls))
	want := func(code codes.Code, message string) {
		t.Helper()
		_, err := export(t.Context(), conn, requestOf(t, "a"))
		if s := status.Convert(err); s.Code() != code || s.Message() != message {
			t.Errorf("got %v, want %s %s", err, code, message)
		}
	}
	want(codes.Unavailable, "starting: rules are still loading")
	in := sourcetest.NewIntake(10)
	m, reg := newTestMetrics(t)
	calls.Mount(NewIntake(in, testBody, m))
	want(codes.OK, "")
	in.Close()
	want(codes.Unavailable, "event channel closed")
	if got, want := seriesOf(t, reg), []string{"otlp_errors channel_closed grpc 1", "otlp_log_records  2", "otlp_requests protobuf grpc 2"}; !slices.Equal(got, want) {
		t.Errorf("got series %q, want %q", got, want)
	}
	err := conn.Invoke(t.Context(), "/opentelemetry.proto.collector.trace.v1.TraceService/Export", requestOf(t), &emptypb.Empty{})
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("another service: %v", err)
	}
}

func TestCallsNeedThePermission(t *testing.T) {
	policy, err := auth.New(auth.Config{Tokens: []auth.TokenConfig{{Name: "in", TokenEnv: "INGEST", Role: "ingest"}, {Name: "out", TokenEnv: "READER", Role: "reader"}}}, func(name string) string {
		return map[string]string{"INGEST": "secret-of-ingest", "READER": "secret-of-reader"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewPedanticRegistry()
	metrics, err := auth.NewMetrics(reg)
	if err != nil {
		t.Fatal(err)
	}
	in := sourcetest.NewIntake(10)
	m, _ := newTestMetrics(t)
	calls := NewCalls(auth.NewGate(policy, metrics, slog.New(slog.DiscardHandler)).Call)
	calls.Mount(NewIntake(in, testBody, m))
	conn := dial(t, callServer(t, calls))
	for _, tc := range []struct {
		name, header string
		code         codes.Code
		message      string
	}{
		{"no token", "", codes.Unauthenticated, "missing or invalid bearer token"},
		{"an unknown token", "Bearer nobody", codes.Unauthenticated, "missing or invalid bearer token"},
		{"a token without the permission", "Bearer secret-of-reader", codes.PermissionDenied, "token lacks required permission 'events:ingest'"},
		{"a token with it", "Bearer secret-of-ingest", codes.OK, ""},
	} {
		ctx := t.Context()
		if tc.header != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", tc.header)
		}
		_, err := export(ctx, conn, requestOf(t, "a"))
		if s := status.Convert(err); s.Code() != tc.code || s.Message() != tc.message {
			t.Errorf("%s: got %v, want %s %s", tc.name, err, tc.code, tc.message)
		}
	}
	if got, want := seriesOf(t, reg), []string{"api_auth_failures forbidden 1", "api_auth_failures unauthorized 2"}; !slices.Equal(got, want) {
		t.Errorf("got series %q, want %q", got, want)
	}
	if got := len(in.Lines()); got != 1 {
		t.Errorf("%d events, want 1", got)
	}
}

// A call waits while the queue is full, no longer than its client wants.
func TestACallEndsWhenItsTimeIsOver(t *testing.T) {
	var in *sourcetest.Intake
	var reg *prometheus.Registry
	var conn *grpc.ClientConn
	// On a busy machine the time may be over before the call has come so far as to wait.
	for span := 300 * time.Millisecond; in == nil || in.Waited() == 0; span *= 2 {
		var m *Metrics
		in = sourcetest.NewIntake(2)
		m, reg = newTestMetrics(t)
		calls := NewCalls(open)
		calls.Mount(NewIntake(in, testBody, m))
		conn = dial(t, callServer(t, calls))
		ctx, cancel := context.WithTimeout(t.Context(), span)
		defer cancel()
		if _, err := export(ctx, conn, requestOf(t, "a", "b", "c")); status.Code(err) != codes.DeadlineExceeded {
			t.Fatalf("got %v, want that the deadline is exceeded", err)
		}
	}
	leaving, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := export(leaving, conn, requestOf(t, "d")); ended <- err }()
	for in.Waited() < 2 {
		time.Sleep(time.Millisecond)
	}
	leave()
	if err := <-ended; status.Code(err) != codes.Canceled {
		t.Errorf("got %v, want that the call is canceled", err)
	}
	if got := in.Lines(); len(got) != 2 {
		t.Errorf("admitted %q, want two", got)
	}
	if got, want := seriesOf(t, reg), []string{"otlp_log_records  4", "otlp_requests protobuf grpc 2"}; !slices.Equal(got, want) {
		t.Errorf("got series %q, want %q", got, want)
	}
}

// frame is a message as a call has it.
func frame(flag byte, message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(message))), message...)
}

func TestMessagesThatClientsGetWrong(t *testing.T) {
	message := marshalled(t, requestOf(t, "a"))
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(message); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	reader := func(b ...[]byte) io.Reader { return bytes.NewReader(slices.Concat(b...)) }
	whole := frame(0, message)
	for _, tc := range []struct {
		name        string
		contentType string
		header      [2]string
		body        io.Reader
		code        codes.Code
		message     string
		reason      string
	}{
		{"a whole one", "", [2]string{}, reader(whole), codes.OK, "", ""},
		{"byte by byte", "+proto", [2]string{}, iotest.OneByteReader(reader(whole)), codes.OK, "", ""},
		{"with gzip", ";x=y", [2]string{"Grpc-Encoding", "gzip"}, reader(frame(1, zipped.Bytes())), codes.OK, "", ""},
		{"not compressed although it might be", "", [2]string{"Grpc-Encoding", "gzip"}, reader(whole), codes.OK, "", ""},
		{"no message", "", [2]string{}, reader(), codes.InvalidArgument, "the request message ends too early", "decode"},
		{"half a head", "", [2]string{}, reader(whole[:3]), codes.InvalidArgument, "the request message ends too early", "decode"},
		{"half a message", "", [2]string{}, reader(whole[:9]), codes.InvalidArgument, "the request message ends too early", "decode"},
		{"a length that is too small", "", [2]string{}, reader(frame(0, message[:5]), message[5:]), codes.InvalidArgument, "more than one request message", "decode"},
		{"two messages", "", [2]string{}, reader(whole, whole), codes.InvalidArgument, "more than one request message", "decode"},
		{"a length of 4 GiB", "", [2]string{}, reader([]byte{0, 255, 255, 255, 255}), codes.ResourceExhausted, "request message has 4294967295 bytes, more than the 20971520 that are allowed", "decode"},
		{"no protobuf", "", [2]string{}, reader(frame(0, []byte("hello"))), codes.InvalidArgument, "protobuf decode error: malformed field at byte 2 of 5, in ExportLogsServiceRequest", "decode"},
		{"another flag", "", [2]string{}, reader(frame(7, message)), codes.InvalidArgument, "a message is compressed, and no grpc-encoding says how", "decompression"},
		{"compressed without an encoding", "", [2]string{}, reader(frame(1, zipped.Bytes())), codes.InvalidArgument, "a message is compressed, and no grpc-encoding says how", "decompression"},
		{"an unknown encoding", "", [2]string{"Grpc-Encoding", "zstd"}, reader(frame(1, message)), codes.Unimplemented, "unsupported grpc-encoding: zstd", "decompression"},
		{"what is no gzip", "", [2]string{"Grpc-Encoding", "gzip"}, reader(frame(1, message)), codes.InvalidArgument, "decompression error: gzip: invalid header", "decompression"},
		{"gzip that breaks off", "", [2]string{"Grpc-Encoding", "gzip"}, reader(frame(1, zipped.Bytes()[:15])), codes.InvalidArgument, "decompression error: the data ends too early", "decompression"},
		{"JSON", "+json", [2]string{}, reader(whole), codes.Unimplemented, "unsupported content-type: application/grpc+json (expected application/grpc)", "unsupported_content_type"},
		{"a malformed timeout", "", [2]string{"Grpc-Timeout", "1x"}, reader(whole), codes.Internal, "malformed grpc-timeout", ""},
		{"a timeout without a number", "", [2]string{"Grpc-Timeout", "S"}, reader(whole), codes.Internal, "malformed grpc-timeout", ""},
		{"a very long timeout", "", [2]string{"Grpc-Timeout", "99999999H"}, reader(whole), codes.OK, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, reg := newTestMetrics(t)
			in := sourcetest.NewIntake(10)
			calls := NewCalls(open)
			calls.Mount(NewIntake(in, testBody, m))
			s := callServer(t, calls)
			protocols := new(http.Protocols)
			protocols.SetUnencryptedHTTP2(true)
			tr := &http.Transport{Protocols: protocols}
			defer tr.CloseIdleConnections()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.Addr().String()+otlp.Method, tc.body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", grpcType+tc.contentType)
			if tc.header[0] != "" {
				req.Header.Set(tc.header[0], tc.header[1])
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != grpcType || resp.Header.Get("Grpc-Accept-Encoding") != "identity,gzip" {
				t.Errorf("got %d %v %q, %v", resp.StatusCode, resp.Header, body, err)
			}
			code, text := resp.Trailer.Get("Grpc-Status"), ""
			if tc.code != codes.OK {
				code, text = resp.Header.Get("Grpc-Status"), resp.Header.Get("Grpc-Message")
			}
			if code != fmt.Sprint(int(tc.code)) || text != tc.message || (tc.code == codes.OK) != (len(body) == 5) {
				t.Errorf("got status %s %s and %x, want %d %s", code, text, body, tc.code, tc.message)
			}
			want := []string{"otlp_errors " + tc.reason + " grpc 1"}
			switch {
			case tc.code == codes.OK:
				want = []string{"otlp_log_records  1", "otlp_requests protobuf grpc 1"}
			case tc.reason == "":
				want = nil
			}
			if got := seriesOf(t, reg); !slices.Equal(got, want) {
				t.Errorf("got series %q, want %q", got, want)
			}
		})
	}
}

func TestMessagesOfStatusesAreEncoded(t *testing.T) {
	if got, want := percentEncoded("50% é\n"), "50%25 %C3%A9%0A"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
