// Package openapitest compares answers with what an OpenAPI document says of them.
package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Checker knows one document. Objects of answers have no members but those that it
// lists, although clients are told to expect more.
type Checker struct {
	document document

	mu       sync.Mutex // guards the rest
	compiler *jsonschema.Compiler
	seen     map[string]bool // method, path and status
}

// Answer is a request and what came back.
type Answer struct {
	Method, Target string // the target with its query
	Status         int
	Header         http.Header
	Body           []byte
}

type document struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Responses map[string]response `json:"responses"`
	} `json:"components"`
}

type operation struct {
	Responses map[string]response `json:"responses"`
}

type response struct {
	Ref     string                     `json:"$ref"`
	Headers map[string]header          `json:"headers"`
	Content map[string]json.RawMessage `json:"content"`

	place string // where the document has it
}

type header struct {
	Required bool `json:"required"`
}

const resource = "openapi.json"

// New reads a document.
func New(tb testing.TB, raw []byte) *Checker {
	tb.Helper()
	c := &Checker{compiler: jsonschema.NewCompiler(), seen: make(map[string]bool)}
	if err := json.Unmarshal(raw, &c.document); err != nil {
		tb.Fatal(err)
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		tb.Fatal(err)
	}
	shut(tree)
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(resource, tree); err != nil {
		tb.Fatal(err)
	}
	return c
}

// shut allows objects no members but their properties.
func shut(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			shut(e)
		}
	case map[string]any:
		_, isList := v["properties"].(map[string]any)
		if _, said := v["additionalProperties"]; isList && !said && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, e := range v {
			shut(e)
		}
	}
}

// Check reports what the document does not say of an answer. A path that it does not
// have is answered with 404, a method that it does not have with 405, or with 401 or 403
// when the caller is refused first. Several goroutines may call Check at once.
func (c *Checker) Check(tb testing.TB, a Answer) {
	tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	path, methods := c.find(a.Target)
	o, known := methods[strings.ToLower(a.Method)]
	switch {
	case path == "":
		c.known(tb, a, http.StatusNotFound)
		return
	case !known:
		c.known(tb, a, http.StatusMethodNotAllowed, http.StatusUnauthorized, http.StatusForbidden)
		want := strings.ToUpper(strings.Join(slices.Sorted(maps.Keys(methods)), ", "))
		if got := a.Header.Get("Allow"); a.Status == http.StatusMethodNotAllowed && got != want {
			tb.Errorf("%s %s: got Allow %q, the document has %q", a.Method, a.Target, got, want)
		}
		return
	}
	r, ok := o.Responses[strconv.Itoa(a.Status)]
	if !ok {
		tb.Errorf("%s %s: got %d %s, which the document does not have (%v)", a.Method, a.Target, a.Status, a.Body, slices.Sorted(maps.Keys(o.Responses)))
		return
	}
	c.seen[fmt.Sprintf("%s %s %d", a.Method, path, a.Status)] = true
	r.place = "/paths/" + escape(path) + "/" + strings.ToLower(a.Method) + "/responses/" + strconv.Itoa(a.Status)
	if name, shared := strings.CutPrefix(r.Ref, "#/components/responses/"); shared {
		r = c.document.Components.Responses[name]
		r.place = "/components/responses/" + name
	}
	c.response(tb, a, r)
}

// Operations are the methods of each path.
func (c *Checker) Operations() map[string][]string {
	all := make(map[string][]string)
	for path, methods := range c.document.Paths {
		for method := range methods {
			all[path] = append(all[path], strings.ToUpper(method))
		}
		slices.Sort(all[path])
	}
	return all
}

// Unseen lists the answers that the document has and that no call of Check was about, each
// as method, path and status.
func (c *Checker) Unseen() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var unseen []string
	for path, methods := range c.document.Paths {
		for method, o := range methods {
			for status := range o.Responses {
				if one := strings.ToUpper(method) + " " + path + " " + status; !c.seen[one] {
					unseen = append(unseen, one)
				}
			}
		}
	}
	slices.Sort(unseen)
	return unseen
}

// known checks an error that is no matter of a single operation.
func (c *Checker) known(tb testing.TB, a Answer, statuses ...int) {
	tb.Helper()
	if !slices.Contains(statuses, a.Status) {
		tb.Errorf("%s %s: got %d, want one of %v, since the document does not have it", a.Method, a.Target, a.Status, statuses)
		return
	}
	if a.Method != http.MethodHead {
		c.body(tb, a, "/components/schemas/ErrorBody")
	}
}

func (c *Checker) response(tb testing.TB, a Answer, r response) {
	tb.Helper()
	for name, h := range r.Headers {
		if h.Required && a.Header.Values(name) == nil {
			tb.Errorf("%s %s: %d has no header %s", a.Method, a.Target, a.Status, name)
		}
	}
	if len(r.Content) == 0 {
		if len(a.Body) > 0 {
			tb.Errorf("%s %s: %d has the body %s, the document has none", a.Method, a.Target, a.Status, a.Body)
		}
		return
	}
	got := a.Header.Get("Content-Type")
	if _, ok := r.Content[got]; !ok {
		tb.Errorf("%s %s: %d is of type %q, the document has %v", a.Method, a.Target, a.Status, got, slices.Sorted(maps.Keys(r.Content)))
		return
	}
	if got == "application/json" {
		c.body(tb, a, r.place+"/content/"+escape(got)+"/schema")
	}
}

func (c *Checker) body(tb testing.TB, a Answer, place string) {
	tb.Helper()
	schema, err := c.compiler.Compile(resource + "#" + (&url.URL{Path: place}).EscapedPath())
	if err != nil {
		tb.Fatalf("%s %s: %v", a.Method, a.Target, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Body))
	if err != nil {
		tb.Errorf("%s %s: %d is not JSON: %v in %s", a.Method, a.Target, a.Status, err, a.Body)
		return
	}
	if err := schema.Validate(value); err != nil {
		tb.Errorf("%s %s: %d is not what the document says: %v\n%s", a.Method, a.Target, a.Status, err, a.Body)
	}
}

// find returns the path that a target belongs to, and its methods.
func (c *Checker) find(target string) (string, map[string]operation) {
	path, _, _ := strings.Cut(target, "?")
	parts := strings.Split(path, "/")
	for _, pattern := range slices.Sorted(maps.Keys(c.document.Paths)) { // without parameters first
		wanted := strings.Split(pattern, "/")
		if slices.EqualFunc(wanted, parts, func(want, got string) bool {
			return want == got || strings.HasPrefix(want, "{") && got != ""
		}) {
			return pattern, c.document.Paths[pattern]
		}
	}
	return "", nil
}

// escape makes a part of a JSON pointer.
func escape(part string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(part) }
