package acceptance

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// figures are what the counters of lines grew by.
type figures struct{ processed, errors, suspects int }

func (d *daemon) figures() figures {
	d.t.Helper()
	return figures{
		int(d.metric("svc_events_processed_total")), int(d.metric("svc_events_parse_errors_total")), int(d.metric("svc_json_suspects_total")),
	}
}

// Gzip on the standard input of the daemon is read as lines, and told once.
func TestGzipOnStdinIsWarnedOf(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", "title: A\ndetection: {fields: {C: evil}, condition: fields}\n")
	d := start(t, "-r", filepath.Join(dir, "rules"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.WriteString(z, `{"C":"evil"}`+"\n")
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(d.stdin, "%s\n%s\n", packed.String(), packed.String())
	const told = "standard input is gzip and is read as lines"
	d.awaitLog(told)
	d.stdin.Close()
	if code := d.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := strings.Count(d.stderr.String(), told); n != 1 || len(d.stdout.lines()) != 0 {
		t.Errorf("told %d times, results %q", n, d.stdout.lines())
	}
}

// So is every other encoding that no line can be read from.
func TestOtherEncodingsOnStdinAreWarnedOf(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", "title: A\ndetection: {fields: {C: evil}, condition: fields}\n")
	for head, told := range map[string]string{
		"\xff\xfe{\x00}\x00": "standard input is UTF-16 and is read as lines, so its events are not found: send it through iconv -f UTF-16 -t UTF-8\"",
		"\x28\xb5\x2f\xfd":   "standard input is zstd and is read as lines, so its events are not found: send it through zstd -dc\"",
	} {
		d := start(t, "-r", dir)
		fmt.Fprintf(d.stdin, "%s\n%s\n", head, head)
		d.stdin.Close()
		if code := d.wait(); code != 0 || strings.Count(d.stderr.String(), told) != 1 {
			t.Errorf("exit code %d, want 0 and once %q:\n%s", code, told, d.stderr.String())
		}
	}
}

// bodyCase is a request, its answer, and by what the counters grow.
type bodyCase struct {
	name, contentType, body string
	status                  int
	want                    string // that the answer begins with
	figures
}

func TestBodiesOfJSON(t *testing.T) {
	const jsonType = "application/json"
	two := `{"a":1}` + "\n" + `{"a":2}`
	array := `[{"a":1},{"a":2}]`
	indented := "[\n  {\n    \"a\": 1\n  },\n  {\n    \"a\": 2\n  }\n]\n"
	long := `{"a":"` + strings.Repeat("x", 1<<20-8) + `"}` // of 1,048,576 bytes
	many := "[" + strings.Repeat(`{"a":1,"text":"`+strings.Repeat("x", 130)+`"},`, 99_999) + `{"a":1}]`
	for _, f := range []struct {
		format string
		cases  []bodyCase
	}{
		{"auto", []bodyCase{
			{"an array", jsonType, array, 200, `{"accepted":2}`, figures{processed: 2}},
			{"an indented array", jsonType, indented, 200, `{"accepted":2}`, figures{processed: 2}},
			{"objects over many lines", jsonType, "{\n\"a\":1}{\"a\"\n:2}", 200, `{"accepted":2}`, figures{processed: 2}},
			{"a bad element", jsonType, `[{"a":1},{bad},{"a":3}]`, 200, `{"accepted":3}`, figures{processed: 2, errors: 1}},
			{"a body that ends inside a value", jsonType, `[{"a":1},{"a":2`, 200, `{"accepted":2}`, figures{processed: 1, errors: 1}},
			{"an array of 100,000 objects", jsonType, many, 200, `{"accepted":100000}`, figures{processed: 100_000}},
			{"the longest element", jsonType, "[" + long + "]", 200, `{"accepted":1}`, figures{processed: 1}},
			{
				"an element that is too long", jsonType, `[{"a":1},{"a":2},` + long[:6] + "x" + long[6:] + `,{"a":4}]`, 413,
				`{"error":"line exceeds maximum size","max_bytes":1048576,"accepted":2,"hint":"leave out the value that is too long and go on behind value 2, the last that was accepted"}`,
				figures{processed: 2, errors: 1},
			},
			{"another type of JSON", "application/vnd.acme+json; charset=utf-8", two, 200, `{"accepted":2}`, figures{processed: 2}},
			{"text", "TEXT/plain", two, 200, `{"accepted":2}`, figures{processed: 2}},
			{"no type", "", two, 200, `{"accepted":2}`, figures{processed: 2}},
			{"what curl says", "application/x-www-form-urlencoded", two, 200, `{"accepted":2}`, figures{processed: 2}},
			{"MessagePack", "application/msgpack", array, 415, `{"error":"unsupported content-type: application/msgpack","hint":"send JSON `, figures{}},
			{"a form", "multipart/form-data", array, 415, `{"error":"unsupported content-type: multipart/form-data","hint":"send the events as the body itself`, figures{}},
			{"objects on a line", "", `{"a":1}{"a":2}`, 200, `{"accepted":1}`, figures{processed: 2}},
			{"an array on a line", "", array, 200, `{"accepted":1}`, figures{processed: 2}},
			{"an array of nothing, and on a line", jsonType, "[]", 200, `{"accepted":0}`, figures{}},
			{"an array of nothing on a line", "", "[]", 200, `{"accepted":1}`, figures{}},
			{"an indented array without its type", "", indented, 200, `{"accepted":8}`, figures{processed: 8, suspects: 3}},
			{"suspects among others", "", array + "\n" + `{"a":1}{"a":2}` + "\n[x] text\nplain", 200, `{"accepted":4}`, figures{processed: 6, suspects: 1}},
			{"a broken body is no suspect", jsonType, `{"a":1} {bad`, 200, `{"accepted":2}`, figures{processed: 1, errors: 1}},
			{"a scalar of a body is an event", jsonType, `7 [[1],"x"]`, 200, `{"accepted":3}`, figures{processed: 3}},
		}},
		{"plain", []bodyCase{
			{"lines of another format", jsonType, two, 200, `{"accepted":2}`, figures{processed: 2}},
			{"brackets are text", jsonType, "[\n{", 200, `{"accepted":2}`, figures{processed: 2}},
		}},
		{"json", []bodyCase{
			{"objects and arrays on lines", "", `{"a":1}{"b":2}[{"c":3},[{"d":4}],7]` + "\n7\n[[]]", 200, `{"accepted":3}`, figures{processed: 7}},
			{"broken lines", "", `{"user":"ana"` + "\n" + `{"a":1} x` + "\n" + `[{"a":1},{"b":]`, 200, `{"accepted":3}`, figures{errors: 3}},
		}},
	} {
		t.Run(f.format, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "rules/a.yml", rule("A", "evil"))
			dlq := filepath.Join(dir, "dlq.ndjson")
			d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--input-format", f.format, "--dlq", "file://"+dlq)
			for _, tc := range f.cases {
				t.Run(tc.name, func(t *testing.T) {
					d.t = t
					before := d.figures()
					var headers []string
					if tc.contentType != "" {
						headers = []string{"Content-Type", tc.contentType}
					}
					a := d.do("POST", "/api/v1/events?commit=true", tc.body, headers...)
					if a.status != tc.status || !strings.HasPrefix(a.body, tc.want) {
						t.Errorf("%d %s, want %d with %s", a.status, a.body, tc.status, tc.want)
					}
					want := figures{before.processed + tc.processed, before.errors + tc.errors, before.suspects + tc.suspects}
					d.await("the counters", func() bool { return d.figures().processed >= want.processed }) // what is refused part way is not waited for
					if got := d.figures(); got != want {
						t.Errorf("from %+v to %+v, want %+v", before, got, want)
					}
				})
			}
			d.t = t
			if f.format == "auto" {
				fields := d.awaitLog("lines begin like JSON but are not valid")
				if fields["source"] != "http" || fields["offset"] == nil || fields["fault"] == nil || fields["length"] == nil {
					t.Errorf("the log says %v of suspects", fields)
				}
			}
			d.stop()
			raw, err := os.ReadFile(dlq)
			if f.format == "auto" && (err != nil || !strings.Contains(string(raw), `{"original_event":"{bad}","error":"parse error",`)) {
				t.Errorf("dead letters %.300s, %v, want the bad element", raw, err)
			}
		})
	}
}

// shapes are the ways in which events are sent.
type shapes struct {
	lines, arrays, indented, joined []byte
	joinedLines                     []byte // objects one behind the other, fifty on a line
}

func shapesOf(events [][]byte) (s shapes) {
	s.lines = append(bytes.Join(events, []byte("\n")), '\n')
	for from := 0; from < len(events); from += 50 {
		some := events[from:min(from+50, len(events))]
		s.arrays = fmt.Appendf(s.arrays, "[%s]\n", bytes.Join(some, []byte(",")))
		s.joinedLines = fmt.Appendf(s.joinedLines, "%s\n", bytes.Join(some, nil))
	}
	s.joined = bytes.Join(events, nil)
	var b bytes.Buffer
	if err := json.Indent(&b, fmt.Appendf(nil, "[%s]", bytes.Join(events, []byte(","))), "", "  "); err != nil {
		panic(err)
	}
	s.indented = b.Bytes()
	return s
}

// 3,000 real events are judged alike whatever their shape and whichever way they come.
func TestRealEventsInAnyShape(t *testing.T) {
	rules := sigmatest.RuleDir(t, "rules")
	all := sigmatest.Lane(t, sigmatest.Telemetry)
	var used [][]byte
	for i := 0; i < len(all) && len(used) < 3000; i += len(all) / 3000 {
		used = append(used, all[i])
	}
	used = every(used)
	s := shapesOf(used)
	flags := []string{"-r", rules, "--include-event"}
	want := pipe(t, s.lines, append([]string{"engine", "eval"}, flags...)...)
	if n := bytes.Count(want, []byte("\n")); n < len(used)/100 {
		t.Fatalf("%d results of %d events say little", n, len(used))
	}
	same := func(t *testing.T, got []byte) {
		t.Helper()
		if !bytes.Equal(got, want) {
			t.Errorf("%d results of %d bytes, want the %d of %d bytes that lines have",
				bytes.Count(got, []byte("\n")), len(got), bytes.Count(want, []byte("\n")), len(want))
		}
	}
	evals := map[string][]byte{"arrays": s.arrays, "an indented array": s.indented, "joined": s.joined, "joined on lines": s.joinedLines}
	streams := map[string][]byte{"lines": s.lines, "arrays": s.arrays, "joined on lines": s.joinedLines}
	if watched { // loading alone takes long under the race detector, and the daemon below gets every shape
		evals, streams = map[string][]byte{"arrays": s.arrays}, map[string][]byte{"joined on lines": s.joinedLines}
	}
	for name, text := range evals {
		t.Run("eval: "+name, func(t *testing.T) {
			same(t, pipe(t, text, append([]string{"engine", "eval"}, flags...)...))
			file := write(t, t.TempDir(), "events.json", string(text))
			same(t, pipe(t, nil, append([]string{"engine", "eval", "-e", "@" + file}, flags...)...))
		})
	}
	for name, text := range streams {
		t.Run("stdin: "+name, func(t *testing.T) {
			same(t, pipe(t, text, append([]string{"engine", "daemon", "--api-addr", "127.0.0.1:0", "--drain-timeout", "500"}, flags...)...))
		})
	}
	d := start(t, append([]string{"--input", "http"}, flags...)...)
	for _, tc := range []struct {
		name, contentType string
		body              []byte
	}{
		{"lines", "", s.lines},
		{"lines as JSON", "application/json", s.lines},
		{"arrays", "application/json", s.arrays},
		{"arrays on lines", "application/x-ndjson", s.arrays},
		{"an indented array", "application/json", s.indented},
		{"joined", "application/json", s.joined},
		{"joined on lines", "text/plain", s.joinedLines},
	} {
		t.Run("HTTP: "+tc.name, func(t *testing.T) {
			d.t = t
			before := len(d.stdout.String())
			a := d.do("POST", "/api/v1/events?commit=true", string(tc.body), "Content-Type", tc.contentType)
			if a.status != 200 {
				t.Fatalf("%d %s", a.status, a.body)
			}
			same(t, []byte(d.stdout.String()[before:]))
		})
	}
	d.t = t
	d.stop()
}

// longArray is a body of so many bytes, made while it is read.
type longArray struct {
	left int
	rest []byte
}

const longElement = "{\n  \"C\": \"fine\",\n  \"Image\": \"C:\\\\Windows\\\\System32\\\\cmd.exe\",\n  \"n\": 12345\n}"

func (l *longArray) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(l.rest) == 0 {
			switch {
			case l.left < 0:
				return n, io.EOF
			case l.left <= len(longElement):
				l.rest, l.left = []byte(longElement+"\n]"), -1
			default:
				l.rest, l.left = []byte(longElement+",\n"), l.left-len(longElement)-2
			}
		}
		k := copy(p[n:], l.rest)
		l.rest = l.rest[k:]
		n += k
	}
	return n, nil
}

// A body that is one array needs no more memory than its elements on their way: 256 MiB
// of it, or as much as SLUICE_BODY_MIB says.
func TestALongArrayFitsIntoMemory(t *testing.T) {
	if len(buildFlags) > 0 {
		t.Skip("the race detector needs memory of its own")
	}
	size := 256
	if text := os.Getenv("SLUICE_BODY_MIB"); text != "" {
		var err error
		if size, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	write(t, dir, "sluice.yaml", "daemon: {input: {buffer_bytes: 8MiB, http: {max_body_bytes: 8GiB}}}\n")
	d := start(t, "--config", filepath.Join(dir, "sluice.yaml"), "-r", filepath.Join(dir, "rules"), "--input", "http")
	body := io.MultiReader(strings.NewReader("["), &longArray{left: size << 20})
	resp, err := http.Post("http://"+d.addr+"/api/v1/events?commit=true", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct{ Accepted int }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != 200 || answer.Accepted < size<<20/(len(longElement)+2) {
		t.Errorf("%d, %d elements accepted of %d MiB, %v", resp.StatusCode, answer.Accepted, size, err)
	}
	peak := d.peak()
	t.Logf("%d MiB, %d elements, peak of memory %d MiB", size, answer.Accepted, peak>>20)
	if limit := 160 << 20; peak > limit {
		t.Errorf("%d MiB of memory for a body of %d MiB, the limit is %d", peak>>20, size, limit>>20)
	}
	d.stop()
}
