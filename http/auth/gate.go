package auth

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/http/reply"
	"github.com/sluicehq/sluice/internal/ratelog"
)

// The texts of rejections are part of the API and do not change.
const unauthorizedText = "missing or invalid bearer token"

func forbiddenText(missing permission) string {
	return fmt.Sprintf("token lacks required permission '%s'", missing)
}

// Gate lets requests pass that a Policy allows, and rejects, counts and logs the others.
type Gate struct {
	policy  *Policy
	metrics *Metrics
	log     *slog.Logger
	repeats ratelog.Limit
}

// NewGate makes a gate. Its log names routes, tokens and permissions, never secrets.
func NewGate(p *Policy, m *Metrics, log *slog.Logger) *Gate {
	return &Gate{policy: p, metrics: m, log: log}
}

// Endpoint is what a gate stands before.
type Endpoint struct {
	Pattern string // how the log names it
	// Permissions are all needed, and looked at in this order. An empty one is the full
	// grant.
	Permissions []string
	Open        bool // needs no permission at all
}

// Protect hands the requests that may use e to next. Caller names their tokens. The
// others are answered 401 or 403, and their bodies are not read.
func (g *Gate) Protect(e Endpoint, next http.Handler) http.Handler {
	if e.Open {
		return next
	}
	needs := make([]permission, 0, len(e.Permissions))
	for _, text := range e.Permissions {
		needs = append(needs, required(text))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := g.policy.decide(r.Header["Authorization"], needs)
		switch d.reason {
		case "":
			if d.token != "" {
				// In place, so that whoever logs the request knows the name, too.
				*r = *r.WithContext(withToken(r.Context(), d.token))
			}
			next.ServeHTTP(w, r)
		case Unauthorized:
			g.reject(d, e.Pattern, r.RemoteAddr)
			w.Header().Set("WWW-Authenticate", "Bearer")
			reply.JSON(w, http.StatusUnauthorized, errorBody{unauthorizedText})
		case Forbidden:
			g.reject(d, e.Pattern, r.RemoteAddr)
			reply.JSON(w, http.StatusForbidden, errorBody{forbiddenText(d.missing)})
		}
	})
}

// reject counts and logs a rejection, with the address of the connection that it came by.
// That of a unix socket says nothing and is left out.
func (g *Gate) reject(d decision, pattern, peer string) {
	g.metrics.rejected(d.reason)
	kept, ok := g.repeats.Allow(string(d.reason)+" "+pattern+" "+d.token+" "+d.missing.String(), 1, time.Now())
	if !ok {
		return
	}
	attrs := []any{"reason", string(d.reason), "route", pattern}
	if _, err := netip.ParseAddrPort(peer); err == nil {
		attrs = append(attrs, "peer", peer)
	}
	if d.reason == Forbidden {
		attrs = append(attrs, "token", d.token, "permission", d.missing.String())
	}
	g.log.Warn("request rejected", append(attrs, "suppressed", kept)...)
}

// Close logs what was kept back of the log. Nothing is asked any more.
func (g *Gate) Close() error {
	rest := make(map[string]int)
	for key, n := range g.repeats.RestAll() {
		reason, _, _ := strings.Cut(key, " ")
		rest[reason] += n
	}
	for _, reason := range slices.Sorted(maps.Keys(rest)) {
		g.log.Warn("further requests rejected", "reason", reason, "count", rest[reason])
	}
	return nil
}

// errorBody is the answer to a request that is rejected.
type errorBody struct {
	Error string `json:"error"`
}

type tokenKey struct{}

func withToken(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, tokenKey{}, name)
}

// Token is the name of the token that the request of ctx has shown. It is empty for
// callers without one, and without authentication.
func Token(ctx context.Context) string {
	name, _ := ctx.Value(tokenKey{}).(string)
	return name
}

// Caller is Token for the handler of a request.
func Caller(r *http.Request) string { return Token(r.Context()) }
