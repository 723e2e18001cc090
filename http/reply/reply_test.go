package reply_test

import (
	"net/http/httptest"
	"testing"

	"github.com/sluicehq/sluice/http/reply"
)

func TestJSON(t *testing.T) {
	for _, tc := range []struct {
		name   string
		value  any
		status int
		body   string
	}{
		{"a value", map[string]int{"a": 1}, 404, `{"a":1}` + "\n"},
		{"characters of HTML", map[string]string{"error": "<a> & 'b'"}, 404, `{"error":"<a> & 'b'"}` + "\n"},
		{"what does not encode", map[string]any{"a": 1, "b": func() {}}, 500, `{"error":"internal error"}` + "\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			reply.JSON(w, 404, tc.value)
			if w.Code != tc.status || w.Body.String() != tc.body {
				t.Errorf("got %d %s, want %d %s", w.Code, w.Body, tc.status, tc.body)
			}
			if h := w.Header(); h.Get("Content-Type") != "application/json" || h.Get("Content-Length") == "" || int64(len(tc.body)) != w.Result().ContentLength {
				t.Errorf("headers %v, want those of %d bytes of JSON", h, len(tc.body))
			}
		})
	}
}
