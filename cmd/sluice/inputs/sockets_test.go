package inputs_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/inputs"
)

func TestSpecsOfSockets(t *testing.T) {
	for _, tc := range []struct{ name, text, fault string }{
		{"a unix socket", "unix:///run/sluice/events.sock", ""},
		{"with a limit and a format", "unix:///run/s.sock?max_connections=10&format=json", ""},
		{"a relative path", "unix://s.sock", "must be absolute: unix:///path"},
		{"no path", "unix://", "must be absolute: unix:///path"},
		{"a path that is too long", "unix:///" + strings.Repeat("x", 200), "the path has 201 bytes"},
		{"a limit that is none", "unix:///s?max_connections=0", "max_connections must be a number, at least 1, not '0'"},
		{"a limit in words", "syslog+tcp://:514?max_connections=many", "max_connections must be a number, at least 1, not 'many'"},
		{"a slip in a parameter", "unix:///s?max_connection=1", "unknown parameter 'max_connection'"},
		{"datagrams", "syslog+udp://0.0.0.0:514", ""},
		{"datagrams have no connections", "syslog+udp://:514?max_connections=1", "max_connections is for connections, which UDP does not have"},
		{"a stream", "syslog+tcp://[::]:601?format=cef", ""},
		{"TLS", "syslog+tls://:6514", ""},
		{"no port", "syslog+tcp://localhost", "the address must be host:port"},
		{"a transport that there is not", "syslog+dtls://:514", `"syslog+dtls://:514" is no input`},
		{"no transport", "syslog://:514", `"syslog://:514" is no input`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got string
			specs := inputs.Parse([]string{tc.text}, nil, func(_ int, err error) { got = err.Error() })
			if (got == "") != (tc.fault == "") || !strings.Contains(got, tc.fault) || (len(specs) == 1) != (got == "") {
				t.Errorf("got %q, want %q", got, tc.fault)
			}
		})
	}
}
