// Package auth decides who may use which part of the API.
//
// A caller shows a bearer token. Each token has permissions, and each endpoint asks for
// one or two. A caller without a token has the anonymous permissions; a caller with a
// wrong one has none. Secrets come from environment variables, are read once, and are
// kept only as digests: no log line, error or metric shows one. A Policy never changes.
package auth
