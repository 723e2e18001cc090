//go:build !no_otlp

package auth

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluicehq/sluice/http/server"
)

const method = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"

// logs is a service that asks the gate first.
type logs struct {
	gate *Gate
	name chan string // of the token
}

func (l *logs) export(ctx context.Context) (*emptypb.Empty, error) {
	ctx, err := l.gate.Call(ctx, method, "events:ingest")
	if err != nil {
		return nil, err
	}
	l.name <- Token(ctx)
	return &emptypb.Empty{}, nil
}

// description is the service as gRPC knows it; what is exported plays no part here.
var description = grpc.ServiceDesc{
	ServiceName: "opentelemetry.proto.collector.logs.v1.LogsService", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Export", Handler: func(s any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		if err := decode(new(emptypb.Empty)); err != nil {
			return nil, err
		}
		return s.(*logs).export(ctx)
	}}},
}

// client mounts the service on a real server and connects to it.
func client(t *testing.T, g *Gate) (*grpc.ClientConn, *logs) {
	t.Helper()
	addr, err := server.ParseAddress("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Listen(addr, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	service := &logs{gate: g, name: make(chan string, 1)}
	calls := grpc.NewServer()
	calls.RegisterService(&description, service)
	s.MountCalls(calls)
	served := make(chan error, 1)
	go func() { served <- s.Serve(http.NotFoundHandler()) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		calls.Stop()
	})
	conn, err := grpc.NewClient(s.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, service
}

func TestCallsAreJudgedByTheirMetadata(t *testing.T) {
	const (
		unknown = "missing or invalid bearer token"
		lacks   = "token lacks required permission 'events:ingest'"
	)
	anonymous := team
	anonymous.AnonymousPermissions = []string{"events:ingest"}
	for _, tc := range []struct {
		name   string
		c      Config
		values []string
		code   codes.Code
		want   string // the message, or the name of the token
	}{
		{"no metadata", team, nil, codes.Unauthenticated, unknown},
		{"a reader", team, []string{"Bearer see-secret"}, codes.PermissionDenied, lacks},
		{"ingest", team, []string{"Bearer feed-secret"}, codes.OK, "feed"},
		{"the scheme in lower case", team, []string{"bearer feed-secret"}, codes.OK, "feed"},
		{"an unknown token", team, []string{"Bearer wrong"}, codes.Unauthenticated, unknown},
		{"another scheme", team, []string{"Basic abc"}, codes.Unauthenticated, unknown},
		{"two tokens", team, []string{"Bearer feed-secret", "Bearer feed-secret"}, codes.Unauthenticated, unknown},
		{"an anonymous permission", anonymous, nil, codes.OK, ""},
		{"an unknown token does not get it", anonymous, []string{"Bearer wrong"}, codes.Unauthenticated, unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := gate(t, tc.c, teamSecrets)
			conn, service := client(t, g.Gate)
			ctx := metadata.NewOutgoingContext(t.Context(), metadata.MD{"authorization": tc.values})
			err := conn.Invoke(ctx, method, new(emptypb.Empty), new(emptypb.Empty))
			got := status.Convert(err)
			if got.Code() != tc.code {
				t.Fatalf("got %v, want %v", got, tc.code)
			}
			switch tc.code {
			case codes.OK:
				if name := <-service.name; name != tc.want {
					t.Errorf("got the token %q, want %q", name, tc.want)
				}
				g.rejections(t, 0, 0)
				return
			case codes.Unauthenticated:
				g.rejections(t, 1, 0)
			default:
				g.rejections(t, 0, 1)
			}
			if got.Message() != tc.want {
				t.Errorf("got %q, want %q", got.Message(), tc.want)
			}
			if log := g.log.String(); !strings.Contains(log, "route="+method+" peer=127.0.0.1:") || strings.Contains(log, "secret") {
				t.Errorf("got log %s, want the method and no secret", log)
			}
		})
	}
}

func TestWithoutAuthenticationEveryCallPasses(t *testing.T) {
	conn, service := client(t, nil)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer anything")
	if err := conn.Invoke(ctx, method, new(emptypb.Empty), new(emptypb.Empty)); err != nil {
		t.Fatal(err)
	}
	if name := <-service.name; name != "" {
		t.Errorf("got the token %q, want none", name)
	}
}
