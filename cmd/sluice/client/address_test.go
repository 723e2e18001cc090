package client

import (
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		secure     bool
		want       string // the URL of a route
	}{
		{"host and port", "db.example:9090", false, "http://db.example:9090/x"},
		{"host and port, with TLS", "db.example:9090", true, "https://db.example:9090/x"},
		{"a scheme wins", "http://db.example:9090", true, "http://db.example:9090/x"},
		{"a URL may do without a port", "https://db.example", false, "https://db.example/x"},
		{"a URL may have a path", "https://db.example/sluice/", false, "https://db.example/sluice/x"},
		{"a scheme in capitals", "HTTPS://db.example:1", false, "https://db.example:1/x"},
		{"every interface is this machine", "0.0.0.0:9090", false, "http://127.0.0.1:9090/x"},
		{"every interface of IPv6, too", "[::]:9090", false, "http://[::1]:9090/x"},
		{"and no host at all", ":9090", true, "https://127.0.0.1:9090/x"},
		{"every interface in a URL", "https://0.0.0.0:9090/", false, "https://127.0.0.1:9090/x"},
		{"IPv6", "[2001:db8::1]:9090", false, "http://[2001:db8::1]:9090/x"},
		{"IPv6 without a port", "https://[2001:db8::1]", false, "https://[2001:db8::1]/x"},
		{"a unix socket", "unix:///run/sluice.sock", false, "/x over unix:///run/sluice.sock"},
		{"a unix socket, whatever TLS says", "unix:///run/sluice.sock", true, "/x over unix:///run/sluice.sock"},
		{"a relative path", "unix://s.sock", false, "/x over unix://s.sock"},
		{"a file whose name is not abstract", "unix://@s", false, "/x over unix://./@s"},
	} {
		got, err := parseAddress(tc.text, tc.secure)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		} else if got.place("/x") != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got.place("/x"), tc.want)
		}
	}
}

func TestBadAddressesSayWhatIsMeant(t *testing.T) {
	const forms = "host:port, http://host:port, https://host:port or unix:///path"
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "the address is empty (" + forms + ")"},
		{"no port", "db.example", `"db.example" has no port (such as db.example:9090)`},
		{"no port of IPv6", "[::1]", `"[::1]" has no port (such as [::1]:9090)`},
		{"an empty port", "https://db.example:", `"https://db.example:" has no port (such as db.example:9090)`},
		{"IPv6 without brackets", "::1:9090", `"::1:9090": an IPv6 address stands in brackets ([::1]:9090)`},
		{"port 0", "127.0.0.1:0", `"127.0.0.1:0": port 0 lets the daemon choose one, which the first lines of its log tell`},
		{"a large port", "127.0.0.1:65536", `"127.0.0.1:65536": the port is not 1 to 65535`},
		{"a port that is none", "127.0.0.1:http", `"127.0.0.1:http" is no address (` + forms + `)`},
		{"another scheme", "ftp://db.example:9090", `"ftp://db.example:9090": the scheme ftp is not known (` + forms + `)`},
		{"a scheme without a host", "https://", `"https://" has no host (` + forms + `)`},
		{"a path without a scheme", "db.example:9090/sluice", `"db.example:9090/sluice": an address with a path needs its scheme (http:// or https://)`},
		{"a query", "http://db.example:9090/?a=b", `"http://db.example:9090/?a=b": an address ends before "?" and "#"`},
		{"a fragment", "http://db.example:9090/#a", `"http://db.example:9090/#a": an address ends before "?" and "#"`},
		{"a path alone", "/run/sluice.sock", `"/run/sluice.sock" is no address (a unix socket is written unix:///path)`},
		{"a scheme of sockets with one slash", "unix:/run/sluice.sock", `"unix:/run/sluice.sock" is no address (a unix socket is written unix:///path)`},
		{"no path", "unix://", `"unix://" has no path (unix:///path)`},
		{"a NUL byte", "unix:///a\x00b", "the path of a socket cannot hold a NUL byte"},
		{"a path that is too long", "unix:///" + strings.Repeat("a", 103), "the path has 104 bytes, that of a socket may have 103: \"/" + strings.Repeat("a", 103) + "\""},
		{"a blank", "db.example :9090", `"db.example :9090" is no address (` + forms + `)`},
		{"blanks around", " 127.0.0.1:9090 ", `" 127.0.0.1:9090 " is no address (` + forms + `)`},
		{"control characters", "127.0.0.1:9090\n", `"127.0.0.1:9090\n" is no address (` + forms + `)`},
		{"a password", "http://u:hunter2@db.example:9090", "an address has no user and no password (the variable of --auth-token-env holds the token)"},
		{"a password without a scheme", "u:hunter2@db.example:9090", "an address has no user and no password (the variable of --auth-token-env holds the token)"},
		{"a password in what is no URL", "http://u:hun%ter2@db.example:9090", "an address has no user and no password (the variable of --auth-token-env holds the token)"},
	} {
		_, err := parseAddress(tc.text, false)
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

func TestOthersMayReadWhatGoesInClearOverANetwork(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1:1": false, "127.9.9.9:1": false, "[::1]:1": false, "[::ffff:127.0.0.1]:1": false, "localhost:1": false,
		"LOCALHOST.:1": false, "sluice.localhost:1": false, "0.0.0.0:1": false, "unix:///s": false, "https://db.example": false,
		"db.example:1": true, "10.0.0.1:1": true, "localhost.example:1": true, "[fe80::1]:1": true, "http://127.0.0.1.example": true,
	} {
		at, err := parseAddress(text, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := at.exposed(); got != want {
			t.Errorf("%s: exposed is %v, want %v", text, got, want)
		}
	}
}

func TestTheWarningNamesWhereATokenGoesInClear(t *testing.T) {
	for _, tc := range []struct{ name, addr, token, want string }{
		{
			"another host", "db.example:9090", "hunter2",
			"the token in T goes to db.example:9090 in clear: whoever can read what is sent there can use it; call the daemon with https://",
		},
		{"without a token", "db.example:9090", "", ""},
		{"over TLS", "https://db.example:9090", "hunter2", ""},
		{"this machine", "127.0.0.1:9090", "hunter2", ""},
	} {
		c, err := New(Options{Addr: tc.addr, Token: tc.token, Variable: "T"})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Warning(); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}
