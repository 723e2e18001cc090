package fetch_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sources/fetch"
)

// short replaces the directories of a test in a text.
var short = regexp.MustCompile(`/[^ ]*/(\d{3}/)?`)

func brief(text string) string { return short.ReplaceAllString(text, "") }

func TestFiles(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       string // the whole error; empty for none
	}{
		{"no sources", "sources: []\n", ""},
		{"an empty file", "", "sources file must be a YAML mapping (s.yml)"},
		{"a list", "- a\n", "sources file must be a YAML mapping (s.yml:1)"},
		{"a text", "hello\n", "sources file must be a YAML mapping (s.yml:1)"},
		{"another key", "source: []\n", "sources file must contain a top-level 'sources:' key (s.yml)"},
		{"a mapping of sources", "sources: {a: 1}\n", "sources must be a sequence (s.yml:1)"},
		{"sources that are nothing", "x: 1\nsources:\n", "sources must be a sequence (s.yml:2)"},
		{"a source that is text", "sources:\n- hello\n", "source must be a mapping (s.yml:2)"},
		{"what is no YAML", "sources: [\n", "sources file YAML parse error: invalid YAML: did not find expected node content (s.yml:2)"},
		{"what is no UTF-8", "sources: [\xff]\n", "sources file YAML parse error: file is not UTF-8 (s.yml)"},
		{"two documents", "sources: []\n---\nsources: []\n", "sources file YAML parse error: a second document: one file has one document (s.yml:3)"},
		{"aliases that multiply", laughs(12), "sources file YAML parse error: aliases reach more than 100000 nodes, of which 256 bytes of text count as one (s.yml:6)"},
	} {
		all, _, err := fetch.Load([]string{write(t, "s.yml", tc.text)})
		want := tc.want
		if want != "" {
			want = "Error loading external sources: " + want
		}
		if got := fmt.Sprint(err); len(all) != 0 || brief(got) != want && (err != nil || want != "") {
			t.Errorf("%s: got %s, want %s", tc.name, brief(got), want)
		}
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	_, _, err := fetch.Load([]string{filepath.Join(dir, "no.yml")})
	if got := fmt.Sprint(err); !strings.HasPrefix(got, "Error loading external sources: cannot read sources file: no such file or directory (") {
		t.Errorf("a file that is missing: got %s", got)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "b.yml")); err != nil {
		t.Fatal(err)
	}
	if _, _, err = fetch.Load([]string{dir}); !strings.Contains(fmt.Sprint(err), "cannot read sources file: no such file or directory") {
		t.Errorf("a link to nothing in a directory: got %v", err)
	}
	if os.Getuid() != 0 {
		closed := filepath.Join(dir, "closed")
		if err := os.Mkdir(closed, 0); err != nil {
			t.Fatal(err)
		}
		if _, _, err = fetch.Load([]string{closed}); !strings.Contains(fmt.Sprint(err), "cannot read sources directory: permission denied") {
			t.Errorf("a directory that nobody may read: got %v", err)
		}
	}
}

const plain = "- {id: %s, type: file, path: f, format: json}\n"

func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	for name, id := range map[string]string{"b.yml": "b", "a.yaml": "a", "c.yml": "c", "no.txt": "no", "no.json": "nono", "..data.yml": "hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, "sources:\n"+plain, id), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sub := filepath.Join(dir, "sub.yml")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sub, "d.yml"), fmt.Appendf(nil, "sources:\n"+plain, "d"), 0o600); err != nil {
		t.Fatal(err)
	}
	last := write(t, "last.txt", fmt.Sprintf("sources:\n"+plain, "last"))
	all, _, err := fetch.Load([]string{t.TempDir(), dir, last})
	var ids []string
	for _, d := range all {
		ids = append(ids, d.ID+" "+filepath.Base(d.File)+fmt.Sprint(d.Line))
	}
	if want := []string{"a a.yaml2", "b b.yml2", "c c.yml2", "last last.txt2"}; !slices.Equal(ids, want) || err != nil {
		t.Errorf("got %q, %v, want %q", ids, err, want)
	}
}

func TestIDsAreUnique(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.yml"), filepath.Join(dir, "two.yml")
	for _, name := range []string{one, two} {
		if err := os.WriteFile(name, fmt.Appendf(nil, "sources:\n"+plain, "a"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	twice := write(t, "twice.yml", fmt.Sprintf("sources:\n"+plain+"\n"+plain, "a", "a"))
	for _, tc := range []struct {
		name          string
		paths         []string
		first, second string
	}{
		{"two files", []string{one, two}, one, two},
		{"two files of a directory", []string{dir}, one, two},
		{"a file that is named twice", []string{one, one}, one, one},
		{"one file", []string{twice}, twice, twice},
	} {
		all, _, err := fetch.Load(tc.paths)
		want := "Source ID collision: source ID 'a' declared in both external:" + tc.first + " and external:" + tc.second + " (lines 2 and "
		if got := fmt.Sprint(err); !strings.HasPrefix(got, want) || strings.Contains(got, "\n") || all != nil {
			t.Errorf("%s: got %s, want %s", tc.name, got, want)
		}
	}
}

func TestAllFaultsAreTold(t *testing.T) {
	_, _, err := fetch.Load([]string{
		write(t, "a.yml", "sources:\n- {id: a, type: file}\n- 5\n- {id: b, type: ftp}\n- {id: b, type: file, path: f, format: json}\n"),
		write(t, "b.yml", "x"),
	})
	var load *fetch.LoadError
	if !errors.As(err, &load) {
		t.Fatal(err)
	}
	want := `Error loading external sources: source 'a' must have a 'format' field (json, yaml, lines, csv) (a.yml:2)
Error loading external sources: source 'a' must have a 'path' field (a.yml:2)
Error loading external sources: source must be a mapping (a.yml:3)
Error loading external sources: source 'b' has unknown type: 'ftp' (a.yml:4)
Source ID collision: source ID 'b' declared in both external:a.yml and external:a.yml (lines 4 and 5)
Error loading external sources: sources file must be a YAML mapping (b.yml:1)`
	got := regexp.MustCompile(`/\S*/`).ReplaceAllString(err.Error(), "")
	if got != want || len(load.Faults) != 6 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Each declaration is the only one; the id is a unless the text has one.
func TestDeclarationsThatAreRefused(t *testing.T) {
	const file, http = "type: file, path: f, format: json", `type: http, url: "https://h/x", format: json`
	const command, nats = "type: command, command: [x], format: json", `type: nats, url: "nats://h:4222", subject: x.y, format: json`
	for _, tc := range []struct{ name, text, want string }{
		{"no id", "type: file", "source must have an 'id' field"},
		{"an id that is nothing", "id: , " + file, "source must have an 'id' field"},
		{"an empty id", "id: '', " + file, "source must have an 'id' field"},
		{"an id with a dot", "id: a.b, " + file, "source id 'a.b' is none: letters, digits, '_' and '-', with a letter or '_' in front"},
		{"an id with a digit in front", "id: 1a, " + file, "source id '1a' is none"},
		{"an id that is a number", "id: 5, " + file, "source id '5' is none"},
		{"an id with a letter beyond ASCII", "id: é, " + file, "source id 'é' is none"},
		{"an id that is a list", "id: [a], " + file, `source id '["a"]' is none`},
		{"no type", "id: a, path: f, format: json", "source 'a' must have a 'type' field"},
		{"a type that is nothing", "id: a, type: , format: json", "source 'a' must have a 'type' field"},
		{"an unknown type", "id: a, type: ftp, format: json", "source 'a' has unknown type: 'ftp'"},
		{"a type in capitals", "id: a, type: File, format: json", "source 'a' has unknown type: 'File'"},
		{"a type that is a list", "id: a, type: [file], format: json", `source 'a' has unknown type: '["file"]'`},
		{"no format", "id: a, type: file, path: a.json", "source 'a' must have a 'format' field (json, yaml, lines, csv)"},
		{"a format that is nothing", "id: a, type: file, path: a.json, format: ", "source 'a' must have a 'format' field"},
		{"another format", "id: a, type: file, path: a.json, format: xml", "source 'a' has unknown format: 'xml' (expected: json, yaml, lines, csv)"},
		{"a format that is a number", "id: a, type: file, path: a.json, format: 5", "source 'a' has unknown format: '5'"},
		{"an expression in another language", "id: a, " + file + ", extract: {type: xpath, expr: x}", "source 'a': unknown extract type 'xpath' (expected: jq, jsonpath, cel)"},
		{"an expression without text", "id: a, " + file + ", extract: {type: jq}", "source 'a': extract must have an 'expr' field with a text"},
		{"an expression that is a number", "id: a, " + file + ", extract: {expr: 5}", "source 'a': extract must have an 'expr' field with a text"},
		{"an expression that is a list", "id: a, " + file + ", extract: [x]", "source 'a': extract is an expression, or a mapping with 'expr' and 'type'"},
		{"an expression that is nothing", "id: a, " + file + ", extract: ", "source 'a': extract is an expression, or a mapping"},
		{"a refresh of another word", "id: a, " + file + ", refresh: hourly", "source 'a': refresh is once, watch, push, on_demand or a duration such as 90, 500ms, 30s, 5m, 1h and 1d, not 'hourly'"},
		{"a refresh with a fraction", "id: a, " + file + ", refresh: 1.5s", "source 'a': refresh is once"},
		{"a refresh that is a fraction", "id: a, " + file + ", refresh: 1.5", "source 'a': refresh is once"},
		{"a refresh with a sign", "id: a, " + file + ", refresh: -5", "source 'a': refresh is once"},
		{"a refresh with a plus", "id: a, " + file + ", refresh: +5s", "source 'a': refresh is once"},
		{"a refresh with a blank", "id: a, " + file + ", refresh: 5 m", "source 'a': refresh is once"},
		{"a refresh of two parts", "id: a, " + file + ", refresh: 1h30m", "source 'a': refresh is once"},
		{"a refresh in weeks", "id: a, " + file + ", refresh: 1w", "source 'a': refresh is once"},
		{"a refresh without end", "id: a, " + file + ", refresh: 9999999999999d", "source 'a': refresh is once"},
		{"a unit alone", "id: a, " + file + ", refresh: ms", "source 'a': refresh is once"},
		{"a refresh that is nothing", "id: a, " + file + ", refresh: ", "source 'a': refresh is once"},
		{"watching over HTTP", "id: a, " + http + ", refresh: watch", "source 'a': refresh: watch is for sources of type file only"},
		{"pushing to a file", "id: a, " + file + ", refresh: push", "source 'a': refresh: push is for sources of type nats only"},
		{"required in words", "id: a, " + file + ", required: 'yes'", "source 'a': required is true or false, not 'yes'"},
		{"required in a number", "id: a, " + file + ", required: 1", "source 'a': required is true or false, not '1'"},
		{"another policy", "id: a, " + file + ", on_error: ignore", "source 'a': on_error is use_cached, fail or use_default, not 'ignore'"},
		{"a default that is not there", "id: a, " + file + ", on_error: use_default", "source 'a': on_error: use_default needs a value under the key 'default'"},
		{"a timeout of nothing", "id: a, " + http + ", timeout: 0", "source 'a': timeout is a duration above zero, such as 10, 500ms, 30s and 5m, not '0'"},
		{"a timeout in words", "id: a, " + command + ", timeout: soon", "source 'a': timeout is a duration above zero"},
		{"a timeout that is a list", "id: a, " + nats + ", timeout: [1]", "source 'a': timeout is a duration above zero"},
		{"no bytes", "id: a, " + file + ", max_body_size: 0", "source 'a': max_body_size is a number of bytes, at least 1, not '0'"},
		{"bytes with a unit", "id: a, " + http + ", max_body_size: 10MiB", "source 'a': max_body_size is a number of bytes, at least 1, not '10MiB'"},
		{"bytes below nothing", "id: a, " + command + ", max_stdout: -1", "source 'a': max_stdout is a number of bytes"},
		{"bytes beyond all", "id: a, " + command + ", max_stdout: 99999999999999999999", "source 'a': max_stdout is a number of bytes"},
		{"no path", "id: a, type: file, format: json", "source 'a' must have a 'path' field"},
		{"an empty path", "id: a, type: file, format: json, path: ''", "source 'a': path is a text that is not empty"},
		{"a path that is a number", "id: a, type: file, format: json, path: 5", "source 'a': path is a text that is not empty"},
		{"no url", "id: a, type: http, format: json", "source 'a' must have a 'url' field"},
		{"a url of another scheme", "id: a, type: http, format: json, url: 'ftp://user:secret@h/'", "source 'a': url is an absolute http:// or https:// URL with a host"},
		{"a url without host", "id: a, type: http, format: json, url: 'https:///secret'", "source 'a': url is an absolute"},
		{"a url without scheme", "id: a, type: http, format: json, url: 'h/secret'", "source 'a': url is an absolute"},
		{"a url that is none", "id: a, type: http, format: json, url: 'http://h:secret/'", "source 'a': url is an absolute"},
		{"a method with a blank", "id: a, " + http + ", method: 'GET x'", "source 'a': method is a method of HTTP such as GET, not 'GET x'"},
		{"an empty method", "id: a, " + http + ", method: ''", "source 'a': method is a method of HTTP"},
		{"headers in a list", "id: a, " + http + ", headers: ['A: secret']", "source 'a': headers is a mapping of names to values"},
		{"a header that is a list", "id: a, " + http + ", headers: {A: [secret]}", "source 'a': the value of the header A is neither text nor a number"},
		{"a header without name", "id: a, " + http + ", headers: {'': secret}", "source 'a': '' is no name of a header"},
		{"a header with a blank", "id: a, " + http + ", headers: {'a b': secret}", "source 'a': 'a b' is no name of a header"},
		{"a body that is a mapping", "id: a, " + http + ", body: {a: secret}", "source 'a': body is a text (quotes make it one)"},
		{"no command", "id: a, type: command, format: json", "source 'a' must have a 'command' field"},
		{"an empty list", "id: a, type: command, format: json, command: []", "source 'a': command names no program"},
		{"an empty program", "id: a, type: command, format: json, command: ['', secret]", "source 'a': command names no program"},
		{"an empty text for a program", "id: a, type: command, format: json, command: ''", "source 'a': command is a list of a program and its arguments"},
		{"a mapping for a program", "id: a, type: command, format: json, command: {a: secret}", "source 'a': command is a list of a program and its arguments"},
		{"arguments within arguments", "id: a, type: command, format: json, command: [a, [secret]]", "source 'a': an argument of command is neither text nor a number"},
		{"no server", "id: a, type: nats, format: json, subject: x", "source 'a' must have a 'url' field"},
		{"a server of HTTP", "id: a, type: nats, format: json, subject: x, url: 'http://h:4222'", "source 'a': url is nats://host:port or tls://host:port: it has another scheme"},
		{"a server without port", "id: a, type: nats, format: json, subject: x, url: 'nats://h'", "source 'a': url is nats://host:port or tls://host:port: 'h' is no host:port"},
		{"a server with credentials", "id: a, type: nats, format: json, subject: x, url: 'nats://user:secret@h:4222'", "a NATS URL holds no credentials (--nats-user"},
		{"a server with a path", "id: a, type: nats, format: json, subject: x, url: 'tls://h:4222/y'", "nothing may stand behind the port (the key 'subject' names the subject)"},
		{"no subject", "id: a, type: nats, format: json, url: 'nats://h:4222'", "source 'a' must have a 'subject' field"},
		{"a wildcard", "id: a, type: nats, format: json, url: 'nats://h:4222', subject: 'x.*'", "source 'a': subject 'x.*' must be concrete: tokens with dots between them, none of them empty, without '*', '>' and white space"},
		{"everything below", "id: a, type: nats, format: json, url: 'nats://h:4222', subject: 'x.>'", "source 'a': subject 'x.>' must be concrete"},
		{"an empty token", "id: a, type: nats, format: json, url: 'nats://h:4222', subject: 'x..y'", "source 'a': subject 'x..y' must be concrete"},
		{"a blank", "id: a, type: nats, format: json, url: 'nats://h:4222', subject: 'x y'", "source 'a': subject 'x y' must be concrete"},
	} {
		all, _, err := fetch.Load([]string{write(t, "s.yml", "sources:\n- {"+tc.text+"}\n")})
		got := fmt.Sprint(err)
		if all != nil || !strings.HasPrefix(got, "Error loading external sources: ") || !strings.Contains(got, tc.want) || !strings.HasSuffix(got, "/s.yml:2)") || strings.Contains(got, "\n") {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
		if strings.Contains(got, "secret") {
			t.Errorf("%s: the error shows a secret: %s", tc.name, got)
		}
	}
}

func TestDeclarations(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       fetch.Declaration
	}{
		{
			"a file with what is absent", "{id: a, type: file, path: a/b.json, format: json}",
			fetch.Declaration{Type: fetch.File, Format: fetch.JSON, Path: "a/b.json", MaxBody: 10485760, Timeout: 30 * time.Second},
		},
		{
			"a file with everything", "{id: a, type: file, path: f, format: yml, refresh: watch, required: false, on_error: use_default, default: {b: [1, null]}, max_body_size: 1}",
			fetch.Declaration{Type: fetch.File, Format: fetch.YAML, Path: "f", MaxBody: 1, Timeout: 30 * time.Second, Refresh: fetch.Refresh{Policy: fetch.Watch}, OnError: fetch.UseDefault, Default: []byte(`{"b":[1,null]}`)},
		},
		{
			"a default that is null", "{id: a, type: file, path: f, format: json, on_error: use_default, default: null}",
			fetch.Declaration{Type: fetch.File, Format: fetch.JSON, Path: "f", MaxBody: 10485760, Timeout: 30 * time.Second, OnError: fetch.UseDefault, Default: []byte("null")},
		},
		{
			"HTTP with what is absent", `{id: a, type: http, url: "HTTPS://h/x?y#z", format: lines}`,
			fetch.Declaration{Type: fetch.HTTP, Format: fetch.Lines, URL: "HTTPS://h/x?y#z", Method: "GET", MaxBody: 10485760, Timeout: 30 * time.Second},
		},
		{
			"HTTP with everything", `{id: a, type: http, url: "http://h", format: csv, method: PUT, body: "", headers: {A: b, X-N: 1.10, X-B: True, X-Z: ~, X-H: 0x1F, X-D: 2026-03-10}, timeout: 500ms, max_body_size: 5, refresh: 1d, on_error: fail}`,
			fetch.Declaration{
				Type: fetch.HTTP, Format: fetch.CSV, URL: "http://h", Method: "PUT", HasBody: true, MaxBody: 5, Timeout: 500 * time.Millisecond, OnError: fetch.Fail,
				Headers: []fetch.Header{{"A", "b"}, {"X-N", "1.10"}, {"X-B", "True"}, {"X-Z", "~"}, {"X-H", "0x1F"}, {"X-D", "2026-03-10"}}, Refresh: fetch.Refresh{Policy: fetch.Interval, Every: 24 * time.Hour},
			},
		},
		{
			"a body makes a POST", `{id: a, type: http, url: "http://h", format: csv, body: x}`,
			fetch.Declaration{Type: fetch.HTTP, Format: fetch.CSV, URL: "http://h", Method: "POST", Body: "x", HasBody: true, MaxBody: 10485760, Timeout: 30 * time.Second},
		},
		{
			"but not where a method is named", `{id: a, type: http, url: "http://h", format: csv, body: x, method: GET}`,
			fetch.Declaration{Type: fetch.HTTP, Format: fetch.CSV, URL: "http://h", Method: "GET", Body: "x", HasBody: true, MaxBody: 10485760, Timeout: 30 * time.Second},
		},
		{
			"a command", "{id: a, type: command, command: [p, -n, 5, 1.50, true, ~, '', a b], format: json, timeout: 2, max_stdout: 7, refresh: on_demand}",
			fetch.Declaration{Type: fetch.Command, Format: fetch.JSON, Argv: []string{"p", "-n", "5", "1.50", "true", "~", "", "a b"}, MaxStdout: 7, Timeout: 2 * time.Second, Refresh: fetch.Refresh{Policy: fetch.OnDemand}},
		},
		{
			"a command that is a text is not split", "{id: a, type: command, command: cat /etc/x, format: json}",
			fetch.Declaration{Type: fetch.Command, Format: fetch.JSON, Argv: []string{"cat /etc/x"}, MaxStdout: 10485760, Timeout: 30 * time.Second},
		},
		{
			"NATS", `{id: _a-1, type: nats, url: "tls://[::1]:4222", subject: x.y, format: json, refresh: push}`,
			fetch.Declaration{ID: "_a-1", Type: fetch.NATS, Format: fetch.JSON, URL: "tls://[::1]:4222", Subject: "x.y", Timeout: time.Second, Refresh: fetch.Refresh{Policy: fetch.Push}},
		},
		{
			"a size beyond all sizes that can be counted", "{id: a, type: file, path: f, format: json, max_body_size: 9223372036854775807}",
			fetch.Declaration{Type: fetch.File, Format: fetch.JSON, Path: "f", MaxBody: math.MaxInt64 - 1, Timeout: 30 * time.Second},
		},
	} {
		got := *declared(t, tc.text)
		want := tc.want
		want.File, want.Line = got.File, 2
		if want.ID == "" {
			want.ID = "a"
		}
		if want.Refresh.Policy == "" {
			want.Refresh.Policy = fetch.Once
		}
		if want.OnError == "" {
			want.OnError = fetch.UseCached
		}
		want.Required = !strings.Contains(tc.text, "required: false")
		if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, g, w)
		}
	}
}

func TestHowRefreshIsListed(t *testing.T) {
	for text, want := range map[string]string{
		"once": "Once", "watch": "Watch", "on_demand": "OnDemand", "500ms": "Interval(500ms) 1s", "90": "Interval(90s) 1m30s", `"90"`: "Interval(90s) 1m30s",
		"1500ms": "Interval(1.5s) 1.5s", "5m": "Interval(300s) 5m0s", "1h": "Interval(3600s) 1h0m0s", "1d": "Interval(86400s) 24h0m0s", "0": "Interval(0ms) 1s", "1000ms": "Interval(1s) 1s", "007s": "Interval(7s) 7s",
	} {
		r := declared(t, "{id: a, type: file, path: f, format: json, refresh: "+text+"}").Refresh
		got := r.String()
		if r.Policy == fetch.Interval {
			got += " " + r.Interval().String()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing to warn of", "sources:\n- {id: a, type: file, path: f, format: json}\n", ""},
		{"another key of the file", "version: 1\nsources: []\n", "the key 'version' is ignored: a sources file has the key 'sources' alone (s.yml:1)"},
		{"a key of another type", "sources:\n- {id: a, type: file, path: f, format: json, url: x}\n", "source 'a': the key 'url' does not belong to the type file and is ignored (s.yml:2)"},
		{"a timeout of a file", "sources:\n- {id: a, type: file, path: f, format: json, timeout: 5}\n", "source 'a': the key 'timeout' does not belong to the type file and is ignored (s.yml:2)"},
		{"an unknown key", "sources:\n- id: a\n  type: file\n  path: f\n  format: json\n  reqired: true\n", "source 'a': the unknown key 'reqired' is ignored (did you mean 'required'?) (s.yml:6)"},
		{"an interval that is too short", "sources:\n- {id: a, type: file, path: f, format: json, refresh: 500ms}\n", "source 'a': the refresh interval 500ms is too short; it is fetched every 1s (s.yml:2)"},
		{"an expression that does not compile", "sources:\n- {id: a, type: file, path: f, format: json, extract: halt}\n", "source 'a': the extract expression does not compile, so that every fetch fails: "},
		{"an unknown key of an expression", "sources:\n- {id: a, type: file, path: f, format: json, extract: {expr: ., lang: jq}}\n", "source 'a': the unknown key 'lang' of extract is ignored (s.yml:2)"},
	} {
		_, warnings, err := fetch.Load([]string{write(t, "s.yml", tc.text)})
		got := strings.Join(warnings, "\n")
		if !strings.HasPrefix(brief(got), tc.want) || (tc.want == "") != (got == "") || len(warnings) > 1 || err != nil {
			t.Errorf("%s: got %s, %v, want %s", tc.name, brief(got), err, tc.want)
		}
	}
}

func TestFingerprints(t *testing.T) {
	const base = `{id: a, type: http, url: "http://h/x", format: json}`
	seen := map[string]string{declared(t, base).Fingerprint(): base}
	for _, same := range []string{
		`{id: b, type: http, url: "http://h/x", format: json, refresh: 5m, required: false, timeout: 3, headers: {A: b}}`,
		`{id: a, type: http, url: "http://h/x", format: json, method: GET, body: x}`,
	} {
		if seen[declared(t, same).Fingerprint()] == "" {
			t.Errorf("%s differs", same)
		}
	}
	for _, other := range []string{
		`{id: a, type: http, url: "http://h/y", format: json}`,
		`{id: a, type: http, url: "http://h/x", format: yaml}`,
		`{id: a, type: http, url: "http://h/x", format: json, method: POST}`,
		`{id: a, type: http, url: "http://h/x", format: json, extract: .a}`,
		`{id: a, type: http, url: "http://h/x", format: json, extract: {expr: .a, type: cel}}`,
		`{id: a, type: file, path: "http://h/x", format: json}`,
		`{id: a, type: command, command: [a, b], format: json}`,
		`{id: a, type: command, command: [a b], format: json}`,
		`{id: a, type: command, command: ["a\",\"b"], format: json}`,
		`{id: a, type: nats, url: "nats://h:1", subject: x, format: json}`,
		`{id: a, type: nats, url: "nats://h:1", subject: y, format: json}`,
	} {
		sum := declared(t, other).Fingerprint()
		if seen[sum] != "" || len(sum) != 64 {
			t.Errorf("%s: got %s, that of %s", other, sum, seen[sum])
		}
		seen[sum] = other
	}
	const want = "22f846b95d6b8bcd88769c5a160a5969e94f0f1d33c7e827869ee2a2296aa182"
	if got := declared(t, base).Fingerprint(); got != want {
		t.Errorf("a fingerprint that is stored must stay what it is: got %s, want %s", got, want)
	}
}

func TestLabels(t *testing.T) {
	for kind, want := range map[fetch.Type]string{fetch.File: "File", fetch.HTTP: "Http", fetch.Command: "Command", fetch.NATS: "Nats", "x": "x"} {
		if got := kind.Label(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
