//go:build !no_otlp

package acceptance

import "testing"

// Log records over OTLP are filtered whatever the input format is.
func TestTheEventFilterOfLogRecords(t *testing.T) {
	d := start(t, "-r", filterRules(t), "--input", "http", "--api-addr", "127.0.0.1:0", "--input-format", "plain", "--jq", ".records[]")
	got := d.do("POST", "/v1/logs", `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"kvlistValue":{"values":[{"key":"records","value":{"arrayValue":{"values":[
{"kvlistValue":{"values":[{"key":"a","value":{"intValue":"1"}}]}},{"kvlistValue":{"values":[{"key":"a","value":{"intValue":"2"}}]}}]}}}]}}}]}]}]}`, "Content-Type", "application/json")
	if got.status != 200 {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	d.await("the result", func() bool { return len(d.stdout.lines()) == 1 })
	d.await("the events", func() bool { return d.figures().processed == 2 })
	if got := d.figures(); got.errors != 0 {
		t.Errorf("got %+v, want no error", got)
	}
}
