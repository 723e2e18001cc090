//go:build !no_otlp

package auth

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// Call is Protect for services over gRPC: a method asks it first. It looks at the metadata
// "authorization" of the call. The context that it returns knows the token; the error
// is a status. Without authentication there is no gate, and nil lets every call pass.
func (g *Gate) Call(ctx context.Context, method, needed string) (context.Context, error) {
	if g == nil {
		return ctx, nil
	}
	need := [1]permission{required(needed)}
	d := g.policy.decide(metadata.ValueFromIncomingContext(ctx, "authorization"), need[:])
	switch d.reason {
	case Unauthorized:
		g.reject(d, method, from(ctx))
		return ctx, status.Error(codes.Unauthenticated, unauthorizedText)
	case Forbidden:
		g.reject(d, method, from(ctx))
		return ctx, status.Error(codes.PermissionDenied, forbiddenText(d.missing))
	}
	if d.token != "" {
		ctx = withToken(ctx, d.token)
	}
	return ctx, nil
}

// from is the address that a call comes from, as far as it is known.
func from(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		return p.Addr.String()
	}
	return ""
}
