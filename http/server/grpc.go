package server

import (
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
)

const grpcType = "application/grpc"

// isCall reports whether r is a gRPC call, which only HTTP/2 can carry.
func isCall(r *http.Request) bool {
	return r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), grpcType)
}

// RefuseCalls answers every gRPC call with one status, for the time before a
// service is there, and for builds without one. The message is plain ASCII
// without a percent sign.
func RefuseCalls(code codes.Code, message string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", grpcType)
		h.Set("Grpc-Status", strconv.FormatUint(uint64(code), 10))
		h.Set("Grpc-Message", message)
		w.WriteHeader(http.StatusOK)
	})
}
