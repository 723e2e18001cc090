package server

import (
	"errors"
	"strings"
	"testing"
)

func TestParseAddress(t *testing.T) {
	for _, tc := range []struct {
		name, in, want, fault string
	}{
		{"IPv4 with a port", "127.0.0.1:9090", "127.0.0.1:9090", ""},
		{"IPv6 in brackets", "[::1]:9090", "[::1]:9090", ""},
		{"port 0 is allowed", "0.0.0.0:0", "0.0.0.0:0", ""},
		{"a socket path", "unix:///run/sluice.sock", "unix:///run/sluice.sock", ""},
		{"a relative socket path", "unix://sluice.sock", "unix://sluice.sock", ""},
		{"a host name is refused", "localhost:9090", "", `"localhost:9090"`},
		{"a missing host is refused", ":9090", "", "unix:///path"},
		{"a missing port is refused", "127.0.0.1", "", "127.0.0.1:9090"},
		{"a named port is refused", "127.0.0.1:http", "", "literal IP address"},
		{"a port above 65535 is refused", "127.0.0.1:65536", "", "literal IP address"},
		{"IPv6 without brackets is refused", "::1:9090", "", "literal IP address"},
		{"nothing is refused", "", "", `""`},
		{"an empty socket path is refused", "unix://", "", "no socket path"},
		{"a NUL byte in a socket path is refused", "unix:///a\x00b", "", "NUL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseAddress(tc.in)
			if tc.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Fatalf("got %v, want an error with %q", err, tc.fault)
				}
				return
			}
			if err != nil || got.String() != tc.want {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestCheckTransport(t *testing.T) {
	for _, tc := range []struct {
		name, addr string
		tls, allow bool
		fault      string
	}{
		{"every interface in clear is refused", "0.0.0.0:0", false, false, "refusing to bind plaintext"},
		{"the refusal names the flag", "10.0.0.1:80", false, false, "--allow-plaintext"},
		{"with the flag it is allowed", "0.0.0.0:0", false, true, ""},
		{"with TLS it is allowed", "0.0.0.0:0", true, false, ""},
		{"loopback is allowed", "127.9.0.1:80", false, false, ""},
		{"IPv6 loopback is allowed", "[::1]:80", false, false, ""},
		{"mapped loopback is allowed", "[::ffff:127.0.0.1]:80", false, false, ""},
		{"every IPv6 interface is refused", "[::]:80", false, false, "refusing to bind plaintext"},
		{"a socket is allowed", "unix:///s", false, false, ""},
		{"a socket with TLS is refused", "unix:///s", true, false, "cannot be combined with a unix://"},
		{"the flag does not help that", "unix:///s", true, true, "cannot be combined with a unix://"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := ParseAddress(tc.addr)
			if err != nil {
				t.Fatal(err)
			}
			err = a.CheckTransport(tc.tls, tc.allow)
			if tc.fault == "" && err != nil || tc.fault != "" && (err == nil || !strings.Contains(err.Error(), tc.fault)) {
				t.Errorf("got %v, want %q", err, tc.fault)
			}
			if strings.HasPrefix(tc.fault, "refusing") && !errors.Is(err, ErrPlaintext) {
				t.Errorf("got %v, want it to wrap ErrPlaintext", err)
			}
		})
	}
}
