package fetch

import (
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/suggest"
)

// Values of absent keys.
const (
	defaultLimit   = 10 << 20
	defaultTimeout = 30 * time.Second
	natsTimeout    = time.Second
)

// common are the keys of every declaration, of those of its type.
var (
	common = []string{"id", "type", "format", "extract", "refresh", "required", "on_error", "default"}
	ofType = map[Type][]string{
		File:    {"path", "max_body_size"},
		HTTP:    {"url", "method", "headers", "body", "timeout", "max_body_size"},
		Command: {"command", "timeout", "max_stdout"},
		NATS:    {"url", "subject", "timeout"},
	}
)

var idPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// reader reads one declaration.
type reader struct {
	*file
	node *document.Node
	d    *Declaration
}

// read reports what is wrong, and returns what could be read.
func (r *reader) read() *Declaration {
	r.d = &Declaration{File: r.name, Line: r.node.Line}
	if !r.identify() {
		return r.d
	}
	r.unused()
	r.format()
	r.policies()
	r.extract()
	switch r.d.Type {
	case File:
		r.d.Path = r.required("path")
		r.d.Timeout = defaultTimeout
		r.d.MaxBody = r.size("max_body_size")
	case HTTP:
		r.http()
	case Command:
		r.d.Argv = r.argv()
		r.d.Timeout = r.timeout(defaultTimeout)
		r.d.MaxStdout = r.size("max_stdout")
	case NATS:
		r.nats()
	}
	return r.d
}

// bad reports what is wrong with a key, or without it.
func (r *reader) bad(key, format string, args ...any) {
	line := r.node.Line
	for _, e := range r.node.Entries {
		if e.Key.Kind == document.String && e.Key.Text == key {
			line = e.Key.Line
		}
	}
	r.fault(line, "source '%s'"+format, append([]any{r.d.ID}, args...)...)
}

// identify reads id and type. Without them nothing else can be read.
func (r *reader) identify() bool {
	id := r.node.Get("id")
	if id == nil || id.Kind == document.Null || id.Text == "" && id.IsScalar() {
		r.fault(r.node.Line, "source must have an 'id' field")
		return false
	}
	if !id.IsScalar() || !idPattern.MatchString(id.Text) {
		r.fault(id.Line, "source id '%s' is none: letters, digits, '_' and '-', with a letter or '_' in front", keyOf(id))
		return false
	}
	r.d.ID = id.Text
	text, ok := r.node.Get("type").Str()
	if n := r.node.Get("type"); n == nil || n.Kind == document.Null || ok && text == "" {
		r.bad("type", " must have a 'type' field")
		return false
	} else if _, known := ofType[Type(text)]; !ok || !known {
		r.bad("type", " has unknown type: '%s'", keyOf(n))
		return false
	}
	r.d.Type = Type(text)
	return true
}

// unused warns of keys that nobody reads.
func (r *reader) unused() {
	known := slices.Concat(common, ofType[r.d.Type])
	for _, e := range r.node.Entries {
		key := keyOf(e.Key)
		switch {
		case e.Key.Kind == document.String && slices.Contains(known, key):
		case slices.ContainsFunc([]Type{File, HTTP, Command, NATS}, func(t Type) bool { return slices.Contains(ofType[t], key) }):
			r.warn(e.Key.Line, "source '%s': the key '%s' does not belong to the type %s and is ignored", r.d.ID, key, r.d.Type)
		default:
			r.warn(e.Key.Line, "source '%s': the unknown key '%s' is ignored%s", r.d.ID, key, suggest.Behind(key, known))
		}
	}
}

func (r *reader) format() {
	text, ok := r.node.Get("format").Str()
	n := r.node.Get("format")
	switch {
	case n == nil || n.Kind == document.Null || ok && text == "":
		r.bad("format", " must have a 'format' field (json, yaml, lines, csv)")
	case text == "yml":
		r.d.Format = YAML
	case !ok || !slices.Contains([]Format{JSON, YAML, Lines, CSV}, Format(text)):
		r.bad("format", " has unknown format: '%s' (expected: json, yaml, lines, csv)", keyOf(n))
	default:
		r.d.Format = Format(text)
	}
}

// policies reads what every source says of when it is fetched and what a failure means.
func (r *reader) policies() {
	r.d.Refresh, r.d.Required, r.d.OnError = Refresh{Policy: Once}, true, UseCached
	if n := r.node.Get("refresh"); n != nil {
		r.refresh(n)
	}
	if n := r.node.Get("required"); n != nil {
		if n.Kind != document.Bool {
			r.bad("required", ": required is true or false, not '%s'", keyOf(n))
		}
		r.d.Required = n.Text == "true"
	}
	if n := r.node.Get("on_error"); n != nil {
		r.d.OnError = Policy(n.Text)
		if n.Kind != document.String || !slices.Contains([]Policy{UseCached, Fail, UseDefault}, r.d.OnError) {
			r.bad("on_error", ": on_error is use_cached, fail or use_default, not '%s'", keyOf(n))
		}
	}
	n := r.node.Get("default")
	if n != nil {
		r.d.Default = appendNode(nil, n)
	}
	if n == nil && r.d.OnError == UseDefault {
		r.bad("on_error", ": on_error: use_default needs a value under the key 'default'")
	}
}

func (r *reader) refresh(n *document.Node) {
	named := map[string]Refresh{"once": {Policy: Once}, "watch": {Policy: Watch}, "push": {Policy: Push}, "on_demand": {Policy: OnDemand}}
	if known, ok := named[n.Text]; ok && n.Kind == document.String {
		r.d.Refresh = known
		switch {
		case known.Policy == Watch && r.d.Type != File:
			r.bad("refresh", ": refresh: watch is for sources of type file only")
		case known.Policy == Push && r.d.Type != NATS:
			r.bad("refresh", ": refresh: push is for sources of type nats only")
		}
		return
	}
	every, ok := duration(n)
	if !ok {
		r.bad("refresh", ": refresh is once, watch, push, on_demand or a duration such as 90, 500ms, 30s, 5m, 1h and 1d, not '%s'", keyOf(n))
		return
	}
	r.d.Refresh = Refresh{Interval, every}
	if every < MinInterval {
		r.warn(n.Line, "source '%s': the refresh interval %s is too short; it is fetched every %s", r.d.ID, every, MinInterval)
	}
}

// duration reads a decimal integer and a unit; without unit it is in seconds.
func duration(n *document.Node) (time.Duration, bool) {
	if n.Kind != document.String && n.Kind != document.Int {
		return 0, false
	}
	digits := strings.TrimRight(n.Text, "mshd")
	units := map[string]time.Duration{"": time.Second, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	unit, ok := units[n.Text[len(digits):]]
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	count, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || count > math.MaxInt64/int64(unit) {
		return 0, false
	}
	return time.Duration(count) * unit, true
}

func (r *reader) timeout(absent time.Duration) time.Duration {
	n := r.node.Get("timeout")
	if n == nil {
		return absent
	}
	d, ok := duration(n)
	if !ok || d == 0 {
		r.bad("timeout", ": timeout is a duration above zero, such as 10, 500ms, 30s and 5m, not '%s'", keyOf(n))
	}
	return d
}

// size reads a limit in bytes.
func (r *reader) size(key string) int64 {
	n := r.node.Get(key)
	if n == nil {
		return defaultLimit
	}
	size, err := strconv.ParseInt(n.Text, 10, 64)
	if n.Kind != document.Int || err != nil || size < 1 {
		r.bad(key, ": %s is a number of bytes, at least 1, not '%s'", key, keyOf(n))
	}
	return min(size, math.MaxInt64-1) // one more can be counted
}

// required reads a text that must be there.
func (r *reader) required(key string) string {
	n := r.node.Get(key)
	if n == nil || n.Kind == document.Null {
		r.bad(key, " must have a '%s' field", key)
		return ""
	}
	text, ok := n.Str()
	if !ok || text == "" {
		r.bad(key, ": %s is a text that is not empty", key)
		return ""
	}
	return text
}

func (r *reader) http() {
	if r.d.URL = r.required("url"); r.d.URL != "" {
		u, err := url.Parse(r.d.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			r.bad("url", ": url is an absolute http:// or https:// URL with a host") // it may hold secrets
		}
	}
	r.d.Timeout, r.d.MaxBody = r.timeout(defaultTimeout), r.size("max_body_size")
	r.d.Method = "GET"
	if n := r.node.Get("body"); n != nil {
		r.d.Body, r.d.HasBody = n.Str()
		if r.d.Method = "POST"; !r.d.HasBody {
			r.bad("body", ": body is a text (quotes make it one)")
		}
	}
	if n := r.node.Get("method"); n != nil {
		text, ok := n.Str()
		if !ok || !httpguts.ValidHeaderFieldName(text) {
			r.bad("method", ": method is a method of HTTP such as GET, not '%s'", keyOf(n))
		}
		r.d.Method = text
	}
	r.headers()
}

func (r *reader) headers() {
	n := r.node.Get("headers")
	if n == nil {
		return
	}
	if n.Kind != document.Map {
		r.bad("headers", ": headers is a mapping of names to values")
		return
	}
	for _, e := range n.Entries {
		switch name := e.Key.Written(); {
		case !e.Key.IsScalar() || !httpguts.ValidHeaderFieldName(name):
			r.bad("headers", ": '%s' is no name of a header", keyOf(e.Key))
		case !e.Value.IsScalar():
			r.bad("headers", ": the value of the header %s is neither text nor a number", name)
		default:
			r.d.Headers = append(r.d.Headers, Header{name, e.Value.Written()})
		}
	}
}

// argv reads a program and its arguments. A text is a program without arguments.
func (r *reader) argv() []string {
	n := r.node.Get("command")
	if n == nil || n.Kind == document.Null {
		r.bad("command", " must have a 'command' field")
		return nil
	}
	if n.Kind == document.Map || n.Kind != document.List && n.Text == "" {
		r.bad("command", ": command is a list of a program and its arguments")
		return nil
	}
	if n.IsScalar() {
		return []string{n.Written()}
	}
	argv := make([]string, len(n.Items))
	for i, it := range n.Items {
		if !it.IsScalar() {
			r.bad("command", ": an argument of command is neither text nor a number")
			return nil
		}
		argv[i] = it.Written()
	}
	if len(argv) == 0 || argv[0] == "" {
		r.bad("command", ": command names no program")
		return nil
	}
	return argv
}

func (r *reader) nats() {
	r.d.Timeout = r.timeout(natsTimeout)
	if r.d.URL = r.required("url"); r.d.URL != "" {
		if _, _, err := server(r.d.URL); err != nil {
			r.bad("url", ": url is nats://host:port or tls://host:port: %s", err)
		}
	}
	if r.d.Subject = r.required("subject"); r.d.Subject != "" {
		if err := natsconn.Concrete(r.d.Subject); err != nil {
			r.bad("subject", ": %s", err)
		}
	}
}
