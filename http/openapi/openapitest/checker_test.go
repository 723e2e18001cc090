package openapitest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

const paper = `{"paths": {
	"/things": {"get": {"responses": {"200": {"headers": {"X-Count": {"required": true}}, "content": {"application/json": {"schema": {
		"type": "object", "required": ["count"], "properties": {"count": {"type": "integer"}}}}}}}}},
	"/things/{id}": {"get": {"responses": {"404": {"$ref": "#/components/responses/Gone"}}}, "delete": {"responses": {"204": {}}}}
}, "components": {
	"responses": {"Gone": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}}},
	"schemas": {"ErrorBody": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}}
}}`

// failures collects what a test was told.
type failures struct {
	testing.TB
	all []string
}

func (*failures) Helper()                          {}
func (f *failures) Errorf(format string, _ ...any) { f.all = append(f.all, format) }

func TestAnswersAreComparedWithTheDocument(t *testing.T) {
	const typeJSON = "application/json"
	counted := http.Header{"Content-Type": {typeJSON}, "X-Count": {"1"}}
	plain := http.Header{"Content-Type": {typeJSON}}
	for _, tc := range []struct {
		name   string
		answer Answer
		want   string // part of the one complaint; empty for none
	}{
		{"as it is described", Answer{"GET", "/things?x=1", 200, counted, []byte(`{"count":1}`)}, ""},
		{"shared by several", Answer{"GET", "/things/1", 404, plain, []byte(`{"error":"gone"}`)}, ""},
		{"without a body", Answer{"DELETE", "/things/1", 204, nil, nil}, ""},
		{"a body too much", Answer{"DELETE", "/things/1", 204, nil, []byte("x")}, "the document has none"},
		{"another status", Answer{"GET", "/things", 500, plain, []byte(`{"error":"x"}`)}, "which the document does not have"},
		{"a header is missing", Answer{"GET", "/things", 200, plain, []byte(`{"count":1}`)}, "has no header"},
		{"another type", Answer{"GET", "/things/1", 404, http.Header{"Content-Type": {"text/plain"}}, []byte("x")}, "is of type"},
		{"a member is missing", Answer{"GET", "/things", 200, counted, []byte(`{}`)}, "is not what the document says"},
		{"a member too much", Answer{"GET", "/things", 200, counted, []byte(`{"count":1,"more":1}`)}, "is not what the document says"},
		{"no JSON", Answer{"GET", "/things", 200, counted, []byte(`{`)}, "is not JSON"},
		{"an unknown path", Answer{"GET", "/", 404, plain, []byte(`{"error":"not found"}`)}, ""},
		{"an empty parameter is another path", Answer{"GET", "/things/", 404, plain, []byte(`{"error":"not found"}`)}, ""},
		{"an unknown path that is there", Answer{"GET", "/", 200, plain, []byte(`{}`)}, "want one of"},
		{"another method", Answer{"PUT", "/things/1", 405, http.Header{"Content-Type": {typeJSON}, "Allow": {"DELETE, GET"}}, []byte(`{"error":"no"}`)}, ""},
		{"and what there is instead", Answer{"PUT", "/things/1", 405, plain, []byte(`{"error":"no"}`)}, "got Allow"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &failures{TB: t}
			New(t, []byte(paper)).Check(f, tc.answer)
			if len(f.all) > 1 || (tc.want == "") != (len(f.all) == 0) || tc.want != "" && !strings.Contains(f.all[0], tc.want) {
				t.Errorf("got %q, want %q", f.all, tc.want)
			}
		})
	}
}

func TestAnswersThatWereNeverGivenAreNamed(t *testing.T) {
	c := New(t, []byte(paper))
	c.Check(t, Answer{"DELETE", "/things/1", 204, nil, nil})
	if got, want := c.Unseen(), []string{"GET /things 200", "GET /things/{id} 404"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
