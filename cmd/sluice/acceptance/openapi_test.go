package acceptance

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/http/openapi/openapitest"
)

// checkers know the OpenAPI documents of daemons without profiles and with them.
var checkers [2]struct {
	once sync.Once
	*openapitest.Checker
}

// comparable is how long an answer may be to be compared with the document.
const comparable = 1 << 20

// compare fails the test when an answer is none that the OpenAPI document has.
func (d *daemon) compare(a openapitest.Answer) {
	d.t.Helper()
	if len(a.Body) > comparable {
		return
	}
	profiling := slices.Contains(d.cmd.Args, "--enable-pprof")
	c := &checkers[0]
	if profiling {
		c = &checkers[1]
	}
	c.once.Do(func() {
		raw, err := api.Document(profiling)
		if err != nil {
			d.t.Fatal(err)
		}
		c.Checker = openapitest.New(d.t, raw)
	})
	c.Check(d.t, a)
}

func TestTheDocumentThatIsPrintedIsServed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	printed := sluice(t, "", "config", "openapi")
	if printed.code != 0 || printed.stderr != "" || !strings.HasPrefix(printed.stdout, "{\n  \"openapi\": \"3.1") {
		t.Fatalf("config openapi ends with %d, %q and %.100s", printed.code, printed.stderr, printed.stdout)
	}
	d := start(t, "-r", dir, "--input", "http")
	if a := d.get("/api/v1/openapi.json"); a.status != 200 || a.body != printed.stdout || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("got %d %q, which is another document than the printed one", a.status, a.header.Get("Content-Type"))
	}
	d.stop()
	d = start(t, "-r", dir, "--input", "http", "--enable-pprof")
	if a := d.get("/api/v1/openapi.json"); a.status != 200 || !strings.Contains(a.body, `"/debug/pprof/{profile}"`) {
		t.Errorf("got %d and a document without profiles", a.status)
	}
	d.stop()
}

// Each actor that runs is shown as the document says, and so is a daemon that has a bit
// of everything.
func TestADaemonAnswersAsItsDocumentSays(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	write(t, dir, "rules/broken.yml", "title: B\ndetection: {condition: nothing}\nlogsource: {product: x}\n")
	for _, kind := range []string{"event_count", "value_count", "value_sum", "temporal"} {
		condition := "{gte: 1}"
		if strings.HasPrefix(kind, "value") {
			condition = "{gte: 1, field: N}"
		}
		write(t, dir, "rules/"+kind+".yml", "title: "+kind+"\ncorrelation: {type: "+kind+", rules: [id-A], group-by: [G], timespan: 1m, condition: "+condition+"}\n")
	}
	d := start(t, "-r", dir+"/rules", "--input", "http", "--dlq", "file://"+dir+"/dlq", "--output", "stdout", "--output", "file://"+dir+"/out", "--state-db", dir+"/state")
	d.push(`{"C":"evil","G":"x","N":1}`, `{"C":"evil","G":"x","N":2}`, `{"C":"evil","N":2}`)
	d.do("POST", "/api/v1/reload", "")
	d.awaitLog("reload finished")
	d.get("/api/v1/status")
	d.get("/api/v1/rules")
	d.get("/api/v1/correlations")
	if a := d.get("/api/v1/correlations/state"); strings.Count(a.body, `"window":{"`) < 4 {
		t.Errorf("got %s, want a window of each kind", a.body)
	}
	list, _ := d.get("/api/v1/actors").json(t)["actors"].([]any)
	if len(list) < 12 {
		t.Fatalf("got %d actors, want all", len(list))
	}
	for _, record := range list {
		name := record.(map[string]any)["name"].(string)
		if d.get("/api/v1/actors/" + name).json(t)["detail"] == nil {
			t.Errorf("%s has no detail", name)
		}
	}
	d.do("HEAD", "/api/v1/status", "")
	d.do("OPTIONS", "/api/v1/status", "")
	d.stop()
}
