package openapi

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

type failure struct {
	Error string `json:"error"`
}

func reply(status int, body any, texts ...string) Answer {
	return Answer{Status: status, Description: "It is so.", Content: []Content{{"application/json", body}}, Errors: texts}
}

func compact(t *testing.T, all ...Operation) (string, error) {
	t.Helper()
	raw, err := Document(Info{Title: "Test", Version: "1", Package: failure{}}, all)
	var b bytes.Buffer
	if err == nil {
		if err := json.Compact(&b, raw); err != nil {
			t.Fatal(err)
		}
	}
	return b.String(), err
}

func TestAnswersOfOneStatusAreToldAsOne(t *testing.T) {
	text := Answer{Status: 200, Description: "Text.", Content: []Content{{"text/plain", ""}}}
	for _, tc := range []struct {
		name    string
		answers []Answer
		want    string
	}{
		{"an answer without a body", []Answer{{Status: 204, Description: "Done."}}, `{"204":{"description":"Done."}}`},
		{
			"texts are joined, each once",
			[]Answer{reply(503, failure{}, "a", "b"), reply(503, failure{}, "b", "c")},
			`{"503":{"description":"It is so. It is so.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Failure","properties":{"error":{"enum":["a","b","c"]}}}}}}}`,
		},
		{
			"any text is any",
			[]Answer{reply(400, failure{}, "a"), reply(400, failure{}), reply(400, failure{}, "b")},
			`{"400":{"description":"It is so. It is so. It is so.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Failure"}}}}}`,
		},
		{
			"bodies of several types",
			[]Answer{reply(200, inner{}), reply(200, 1), reply(200, "")},
			`{"200":{"description":"It is so. It is so. It is so.","content":{"application/json":{"schema":{"anyOf":[{"$ref":"#/components/schemas/Inner"},{"type":"integer","format":"int64"},{"type":"string"}]}}}}}`,
		},
		{
			"media types stand side by side",
			[]Answer{reply(200, 1), text},
			`{"200":{"description":"It is so. Text.","content":{"application/json":{"schema":{"type":"integer","format":"int64"}},"text/plain":{"schema":{"type":"string"}}}}}`,
		},
		{
			"a header of one of them may be missing",
			[]Answer{{Status: 200, Description: "A.", Headers: []Header{{"X", "Why.", true, &Schema{Type: "string"}}}}, text},
			`{"200":{"description":"A. Text.","headers":{"X":{"description":"Why.","schema":{"type":"string"}}},"content":{"text/plain":{"schema":{"type":"string"}}}}}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := compact(t, Operation{ID: "x", Method: "GET", Path: "/x", Tag: "x", Summary: "X", Answers: tc.answers})
			if err != nil || !strings.Contains(got, `"responses":`+tc.want+`}}}`) {
				t.Errorf("got %s, %v\nwant %s", got, err, tc.want)
			}
		})
	}
}

func TestSharedAnswersStandOnce(t *testing.T) {
	shared := reply(401, failure{})
	shared.Shared = "Unauthorized"
	other := shared
	other.Description = "Another."
	one := Operation{ID: "a", Method: "GET", Path: "/a", Tag: "x", Summary: "A", Permission: "x:read", Also: "y:write", Answers: []Answer{shared}}
	two := Operation{ID: "b", Method: "POST", Path: "/a", Tag: "x", Summary: "B", Audited: true, Answers: []Answer{shared, reply(401, 1)}}
	got, err := compact(t, one, two)
	for _, want := range []string{
		"\"description\":\"Needs the permission `x:read`. Under some configurations, it needs `y:write`, too.\"",
		`"security":[{"bearer":[]}],"x-sluice-permission":"x:read","x-sluice-permission-also":"y:write","responses":{"401":{"$ref":"#/components/responses/Unauthorized"}}`,
		`"security":[],"x-sluice-audited":true,"responses":{"401":{"description":"It is so. It is so.","content":`,
		`"responses":{"Unauthorized":{"description":"It is so.","content":`, `"tags":[{"name":"x"}]`,
	} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("got %s, %v\nwant %s", got, err, want)
		}
	}
	one.Answers[0] = other
	if _, err := compact(t, one, Operation{ID: "b", Method: "GET", Path: "/b", Tag: "x", Summary: "B", Answers: []Answer{shared}}); err == nil || !strings.Contains(err.Error(), "two answers are named Unauthorized") {
		t.Errorf("got %v, want the name", err)
	}
}

func TestEverythingThatIsNotDescribedIsNamed(t *testing.T) {
	good := []Answer{reply(200, 1)}
	_, err := compact(t,
		Operation{Method: "GET", Path: "/a"},
		Operation{ID: "x", Method: "GET", Path: "/b", Summary: "X", Answers: good, Parameters: []Parameter{{Name: "p"}}},
		Operation{ID: "x", Method: "GET", Path: "/c", Summary: "X", Answers: []Answer{{Status: 204}}},
	)
	for _, want := range []string{"GET /a is not described", "GET /b: parameter p is not described", "GET /c: the operation x exists already", "GET /c: an answer 204 is not described"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
