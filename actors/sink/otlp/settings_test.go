package otlp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/otlp/export"
	"github.com/sluicehq/sluice/otlp/otlptest"
)

func TestEndpoints(t *testing.T) {
	for _, tc := range []struct {
		name, scheme, target, want, err string
	}{
		{"gRPC has a port of its own", "otlp", "collector", "collector:4317", ""},
		{"so it has with TLS", "otlps", "collector", "collector:4317", ""},
		{"HTTP has another", "otlphttp", "collector", "collector:4318", ""},
		{"so it has with TLS, too", "otlphttps", "collector", "collector:4318", ""},
		{"a port", "otlp", "10.0.0.1:5000", "10.0.0.1:5000", ""},
		{"an address of version 6", "otlp", "[::1]", "[::1]:4317", ""},
		{"and its port", "otlphttp", "[::1]:1", "[::1]:1", ""},
		{"a slash behind it", "otlphttp", "collector:4318/", "collector:4318", ""},
		{"a path", "otlphttp", "collector:4318/v1/logs", "", "takes no path: write collector:4318, requests over HTTP go to /v1/logs there"},
		{"two slashes", "otlphttp", "collector//", "", "takes no path"},
		{"a path over gRPC", "otlp", "collector/x", "", "takes no path"},
		{"a fragment", "otlp", "collector#x", "", "takes no path"},
		{"nothing", "otlp", "", "", "needs a host"},
		{"a slash alone", "otlphttp", "/", "", "needs a host"},
		{"a port alone", "otlp", ":4317", "", "needs a host"},
		{"no port behind the colon", "otlp", "collector:", "", "no port behind the colon"},
		{"port 0", "otlp", "collector:0", "", "port '0' is not between 1 and 65535"},
		{"a port too high", "otlp", "collector:65536", "", "port '65536' is not between 1 and 65535"},
		{"a port in letters", "otlp", "collector:grpc", "", "no host with a port"},
		{"a user", "otlp", "user:secret@collector", "", "takes no user name or password"},
		{"a blank", "otlp", "col lector", "", "no host with a port"},
	} {
		o, err := settings(tc.scheme, tc.target, nil)
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: got error %v, want %q", tc.name, err, tc.err)
			}
			continue
		}
		secure, overHTTP := strings.HasSuffix(tc.scheme, "s"), strings.Contains(tc.scheme, "http")
		if err != nil || o.Endpoint != tc.want || o.HTTP != overHTTP || (o.TLS != nil) != secure || o.Timeout != export.DefaultTimeout || o.Gzip {
			t.Errorf("%s: got %+v, %v, want %s over HTTP %t with TLS %t", tc.name, o, err, tc.want, overHTTP, secure)
		}
	}
}

func TestParametersOfASpec(t *testing.T) {
	ours := otlptest.NewAuthority(t, "ours")
	cert, key := ours.Issue("client", time.Now().Add(time.Hour))
	old, oldKey := ours.Issue("old", time.Now().Add(-time.Hour))
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	type parameters map[string]string
	for _, tc := range []struct {
		name, scheme string
		parameters   parameters
		err          string
	}{
		{"none", "otlps", nil, ""},
		{"all", "otlphttps", parameters{"compression": "gzip", "timeout": "1m30s", "ca": ours.File, "client_cert": cert, "client_key": key, "tls_domain": "x"}, ""},
		{"gzip without TLS", "otlp", parameters{"compression": "gzip"}, ""},
		{"another compression", "otlp", parameters{"compression": "zstd"}, "unknown compression 'zstd' (supported: gzip)"},
		{"an empty compression", "otlp", parameters{"compression": ""}, "unknown compression '' (supported: gzip)"},
		{"a time without a unit", "otlp", parameters{"timeout": "10"}, "timeout: "},
		{"no time", "otlp", parameters{"timeout": "0s"}, "timeout: '0s' is not longer than nothing"},
		{"an empty time", "otlp", parameters{"timeout": ""}, "timeout: "},
		{"a bundle without TLS", "otlp", parameters{"ca": ours.File}, "ca= needs TLS: write otlps://"},
		{"a name without TLS", "otlphttp", parameters{"tls_domain": "x"}, "tls_domain= needs TLS: write otlphttps://"},
		{"a bundle that is not there", "otlps", parameters{"ca": garbage + "x"}, "no such file"},
		{"a bundle that is none", "otlps", parameters{"ca": garbage}, "holds nothing in PEM"},
		{"a bundle without a name", "otlps", parameters{"ca": ""}, "ca= has no value"},
		{"a certificate alone", "otlps", parameters{"client_cert": cert}, "client_cert and client_key must be set together"},
		{"a key alone", "otlphttps", parameters{"client_key": key}, "client_cert and client_key must be set together"},
		{"a certificate that is none", "otlps", parameters{"client_cert": garbage, "client_key": key}, garbage},
		{"a certificate that has expired", "otlps", parameters{"client_cert": old, "client_key": oldKey}, "expired at"},
	} {
		err := Check(tc.scheme, "collector", tc.parameters, time.Now())
		if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: got error %v, want %q", tc.name, err, tc.err)
		}
		if _, open := Open(tc.scheme, "collector", tc.parameters, "1", time.Now, nil); (open == nil) != (err == nil) {
			t.Errorf("%s: opening says %v, the check %v", tc.name, open, err)
		}
	}
	o, err := settings("otlphttps", "c", parameters{"compression": "gzip", "timeout": "1m30s", "ca": "a", "client_cert": "b", "client_key": "c", "tls_domain": "d"})
	if want := (export.TLS{CA: "a", Cert: "b", Key: "c", Domain: "d"}); err != nil || !o.Gzip || o.Timeout != 90*time.Second || *o.TLS != want {
		t.Errorf("got %+v with %+v, %v", o, o.TLS, err)
	}
}
