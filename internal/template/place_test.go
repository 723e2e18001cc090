package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/event"
)

// payloads are values that mean harm somewhere.
var payloads = []struct{ name, value string }{
	{"nothing", ""},
	{"a plain word", "word"},
	{"blanks", "  a b  "},
	{"a quote", `a "b" c`},
	{"the end of a string and a member", `","admin":true,"x":"`},
	{"a backslash at the end", `C:\temp\`},
	{"backslash and quote", `\"`},
	{"an escape of JSON", `\u0022`},
	{"a line feed", "one\ntwo"},
	{"a header behind CR LF", "x\r\nX-Admin: yes\r\n\r\nbody"},
	{"a lone carriage return", "a\rb"},
	{"control characters", "\x00\x01\x1b[31m\x7f"},
	{"C1 control characters", "a\u0085\u009bb"},
	{"bytes that are not UTF-8", "a\xff\xfe\xc3(b\xe2\x80"},
	{"separators of lines and paragraphs", "a\u2028b\u2029c"},
	{"letters beyond ASCII", "naïve 漢字 😀"},
	{"a byte order mark and text that runs backwards", "\ufeff\u202eabc"},
	{"steps of a path", "x/../y?z"},
	{"steps up", "../../etc"},
	{"another host", "//evil.example/@x:80#f"},
	{"a query", "?a=b&c=d;e"},
	{"a percent escape", "%2e%2e%2f%00"},
	{"a plus and a space", "a+b c"},
	{"another reference", "${v.none}${HOME}"},
	{"markup", "<script>alert('&')</script>"},
	{"a query of jq", `a" | halt | "b`},
	{"single quotes and brackets", `']|@["`},
	{"a number", "5"},
	{"null", "null"},
	{"an object", `{"a":[1,"x"]}`},
}

// valid is the text with bytes that are not UTF-8 replaced, as JSON shows it.
func valid(s string) string { return string(event.AppendValid(nil, []byte(s))) }

func TestNothingEscapesFromItsPlace(t *testing.T) {
	for _, p := range payloads {
		t.Run(p.name, func(t *testing.T) {
			env := map[string]string{"E": p.value}
			checkJSON(t, p.value, env)
			checkURL(t, p.value)
			checkHeader(t, p.value)
			checkExpression(t, p.value)
			if got := string(parse(t, "<${v.text}|${E}>", env).Append(nil, Plain, text(p.value))); got != "<"+p.value+"|"+p.value+">" {
				t.Errorf("plain: got %q", got)
			}
		})
	}
}

// checkJSON renders the value into every position of a document and reads it back.
func checkJSON(t *testing.T, value string, env map[string]string) {
	t.Helper()
	const source = `{"a":"x${v.text}y","b":${v.text},"c":"\"${E}\\","d":[${E}],"${v.text}!":"\${v.text}","none":${v.none},"no":"${v.none}"}`
	got := parse(t, source, env).Append([]byte(nil), JSON, text(value))
	var doc map[string]any
	if err := json.Unmarshal(got, &doc); err != nil {
		t.Fatalf("JSON: %v in %s", err, got)
	}
	v := valid(value)
	want := map[string]any{"a": "x" + v + "y", "b": v, "c": `"` + v + `\`, "d": []any{v}, v + "!": `\` + v, "none": nil, "no": ""}
	if fmt.Sprintf("%#v", doc) != fmt.Sprintf("%#v", want) {
		t.Errorf("JSON: got %#v, want %#v", doc, want)
	}
}

// checkURL renders the value into a path and a query and reads it back.
func checkURL(t *testing.T, value string) {
	t.Helper()
	rendered := parse(t, "${BASE}/u/${v.text}/end?k=${v.text}&l=1", map[string]string{"BASE": "https://h.example:8443/api"}).Append(nil, URL, text(value))
	u, err := ParseURL(rendered)
	if value == "." || value == ".." {
		if err == nil {
			t.Errorf("URL: %s was accepted", rendered)
		}
		return
	}
	if err != nil {
		t.Fatalf("URL: %v in %s", err, rendered)
	}
	segments := strings.Split(u.EscapedPath(), "/")
	if len(segments) != 5 || u.Host != "h.example:8443" || u.Fragment != "" || u.User != nil {
		t.Fatalf("URL: %s has the host %s and the path %q", rendered, u.Host, segments)
	}
	got, err := url.PathUnescape(segments[3])
	if err != nil || got != value {
		t.Errorf("URL: got the segment %q, %v, want %q", got, err, value)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || len(query) != 2 || query.Get("k") != value || query.Get("l") != "1" {
		t.Errorf("URL: got the query %v, %v, want %q", query, err, value)
	}
}

// checkHeader sends the value in a header, if it can be sent, and reads it back.
func checkHeader(t *testing.T, value string) {
	t.Helper()
	rendered := parse(t, "x${v.text}y", nil).Append(nil, Header, text(value))
	if string(rendered) != "x"+value+"y" {
		t.Fatalf("header: got %q", rendered)
	}
	visible := strings.Trim(value, " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\t") == ""
	err := CheckHeader(rendered)
	if (err == nil) != visible {
		t.Fatalf("header: got %v, sendable is %v", err, visible)
	}
	if err != nil {
		return
	}
	r, err := http.NewRequest(http.MethodGet, "http://h.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Title", string(rendered))
	var wire bytes.Buffer
	if err := r.Write(&wire); err != nil {
		t.Fatal(err)
	}
	back := sent(t, &wire)
	if len(back.Header) != 2 || back.Header.Get("X-Title") != string(rendered) { // User-Agent beside it
		t.Errorf("header: got %v, want %q", back.Header, rendered)
	}
}

// checkExpression renders the value into a quoted string and reads that back.
func checkExpression(t *testing.T, value string) {
	t.Helper()
	got := string(parse(t, `."${v.text}"`, nil).Append(nil, Expression, text(value)))
	inside := got[2 : len(got)-1]
	if strings.ContainsAny(inside, "\"'\x00\x01\n\r\x1b\x7f\u0085\u009b") || strings.Contains(strings.ReplaceAll(inside, `\u00`, ""), `\`) {
		t.Fatalf("expression: %s", got)
	}
	var back string
	if err := json.Unmarshal([]byte(got[1:]), &back); err != nil || back != valid(value) {
		t.Errorf("expression: got %q, %v, want %q", back, err, valid(value))
	}
}

func TestValuesOfTheEnvironment(t *testing.T) {
	env := map[string]string{"BASE": "https://h/a?x", "K": `a"b`, "U": "b/c"}
	for _, tc := range []struct {
		name, source string
		place        Place
		want         string
	}{
		{"a URL may come from the environment", "${BASE}/u/${v.text}", URL, "https://h/a?x/u/a%22%2F"},
		{"within a JSON string and elsewhere", `{"k":"${K}","j":${K}}`, JSON, `{"k":"a\"b","j":"a\"b"}`},
		{"an unset variable is an empty JSON string", `{"n":${UNSET},"m":"${UNSET}"}`, JSON, `{"n":"","m":""}`},
		{"headers take it as it is", "Bearer ${K}", Header, `Bearer a"b`},
		{"bodies that are not JSON take it as it is", `{"k":"${K}"}`, Plain, `{"k":"a"b"}`},
		{"expressions take it as it is", `."${K}" ${v.text}`, Expression, `."a"b" a\u0022/`},
	} {
		if got := string(parse(t, tc.source, env).Append(nil, tc.place, `a"/`)); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestTypesOfBodies(t *testing.T) {
	for contentType, want := range map[string]bool{
		"application/json": true, "Application/JSON ; charset=utf-8": true, "application/cloudevents+json": true, "application/problem+JSON": true,
		"text/plain": false, "": false, "application/json5": false, "application/x-ndjson": false, "text/json": false, "+json": false,
		"application/jsonp": false, "multipart/form-data; x=application/json": false,
	} {
		if got := IsJSON(contentType); got != want {
			t.Errorf("%q: got %v, want %v", contentType, got, want)
		}
	}
}

func TestURLsThatCannotBeSent(t *testing.T) {
	for _, tc := range []struct{ name, rendered, want string }{
		{"no scheme", "h.example/x", "the URL does not begin with http:// or https://"},
		{"another scheme", "file:///etc/passwd", "the URL does not begin with http:// or https://"},
		{"no host", "https:///x", "the URL has no host"},
		{"a port alone", "https://:443/x", "the URL has no host"},
		{"a whole URL in place of a host", "https://http://h.example/x", "the URL has two schemes, one behind the other: does a variable hold a whole URL, and not the host alone?"},
		{"nothing", "", "the URL does not begin with http:// or https://"},
		{"a line break", "https://h/\nx", "the URL cannot be read: it has a control character"},
		{"a segment that leads up", "https://h/a/../b", "the URL has the path segment '..', which leads elsewhere"},
		{"the same, encoded", "https://h/a/%2e%2E/b", "the URL has the path segment '..', which leads elsewhere"},
		{"a segment that stays", "https://h/a/.", "the URL has the path segment '.', which leads elsewhere"},
		{"an environment value that is a value", "https%3A%2F%2Fh", "the URL does not begin with http:// or https://"},
	} {
		if _, err := ParseURL([]byte(tc.rendered)); err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
	if _, err := ParseURL([]byte("https://h/secret-token/\x7f")); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("the message shows the URL: %v", err)
	}
	if u, err := ParseURL([]byte("http://h:1/a..b/...?x=..#..")); err != nil || u.Path != "/a..b/..." {
		t.Errorf("dots among others: got %v, %v", u, err)
	}
}

func TestHeadersThatCannotBeSent(t *testing.T) {
	for _, tc := range []struct{ value, want string }{
		{"tab\tand ~", ""},
		{"a\r\nb", "byte 2 is 0x0d: only visible ASCII characters, spaces and tabs can be sent"},
		{"é", "byte 1 is 0xc3: only visible ASCII characters, spaces and tabs can be sent"},
		{"\x7f", "byte 1 is 0x7f: only visible ASCII characters, spaces and tabs can be sent"},
	} {
		err := CheckHeader([]byte(tc.value))
		if got := fmt.Sprint(err); err == nil && tc.want != "" || err != nil && got != tc.want {
			t.Errorf("%q: got %v, want %s", tc.value, err, tc.want)
		}
	}
}
