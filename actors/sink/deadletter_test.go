package sink

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
)

func TestAppendDeadLetter(t *testing.T) {
	at := time.Date(2026, 3, 10, 1, 0, 0, 1500, time.FixedZone("", 3600))
	for _, tc := range []struct {
		name   string
		letter graph.DeadLetter
		want   string
	}{
		{
			"a line that did not decode",
			graph.DeadLetter{Original: []byte("not json"), Error: "parse error", Stage: "parse"},
			`{"original_event":"not json","error":"parse error","timestamp":"2026-03-10T00:00:00.000001Z","stage":"parse"}`,
		},
		{
			"a failed delivery names sink and attempts",
			graph.DeadLetter{Original: []byte(`[{"a":1},{}]`), Error: "sink delivery failure: drain timeout", Stage: StageDelivery, Sink: "file-2"},
			`{"original_event":"[{\"a\":1},{}]","error":"sink delivery failure: drain timeout","timestamp":"2026-03-10T00:00:00.000001Z","stage":"delivery","sink":"file-2","attempts":0}`,
		},
		{
			"hostile bytes",
			graph.DeadLetter{Original: []byte("<&>\x00\x1f\t\r\n\"\\\xffé\u2028"), Error: "panic: x", Stage: "evaluate"},
			`{"original_event":"<&>\u0000\u001f\t\r\n\"\\` + "\ufffdé\u2028" + `","error":"panic: x","timestamp":"2026-03-10T00:00:00.000001Z","stage":"evaluate"}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := string(AppendDeadLetter(nil, tc.letter, at))
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if !json.Valid([]byte(got)) {
				t.Errorf("not JSON: %s", got)
			}
		})
	}
}
