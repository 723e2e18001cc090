package acceptance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// hostileRules are rules that many events of the hostile mix concern: one that
// ordinary events meet, one that compares fields, hundreds that one event meets
// together, and a correlation over whatever the event says.
func hostileRules() string {
	var b strings.Builder
	b.WriteString(rule("Ordinary", "evil"))
	for _, op := range []string{"", "|contains", "|startswith", "|endswith"} {
		fmt.Fprintf(&b, "---\ntitle: Same%s\ndetection: {s: {A|fieldref%s: B}, condition: s}\n", strings.Trim(op, "|"), op)
	}
	b.WriteString("---\ntitle: Template\ndetection: {s: {P|expand: 'C:\\%A%\\%B%\\x'}, condition: s}\n")
	b.WriteString("---\ntitle: Pattern\ndetection: {s: {R|re: '(a|b)*a(a|b){12}c'}, condition: s}\n")
	for i := range 300 {
		fmt.Fprintf(&b, "---\ntitle: Many %d\nlogsource: {category: many}\ndetection: {s: {M|contains: met%03d}, condition: s}\n", i, i)
	}
	b.WriteString("---\ntitle: Grouped\nid: grouped\ndetection: {s: {G|contains: g}, condition: s}\n")
	b.WriteString("---\ntitle: Count\nlevel: low\ncorrelation: {type: event_count, rules: grouped, group-by: G, timespan: 1h, condition: {gte: 100000}}\n")
	b.WriteString("---\ntitle: Values\nlevel: low\ncorrelation: {type: value_count, rules: grouped, group-by: H, timespan: 1h, condition: {field: G, gte: 100000}}\n")
	return b.String()
}

// hostileEvents are the lines that are meant to cost much. Each is made anew from
// a random number, so that no two say the same.
var hostileEvents = []struct {
	name string
	line func(r *rand.Rand) string
}{
	{"met by hundreds of rules", func(r *rand.Rand) string {
		var b strings.Builder
		for i := range 300 {
			fmt.Fprintf(&b, "met%03d ", i)
		}
		return object("M", b.String()+noise(r, 8<<10), "category", "many")
	}},
	{"two arrays to compare", func(r *rand.Rand) string { return object("A", words(r, 4000), "B", words(r, 4000)) }},
	{"two arrays of numbers", func(r *rand.Rand) string { return object("A", numbers(r, 8000), "B", numbers(r, 8000)) }},
	{"arrays to combine", func(r *rand.Rand) string {
		return object("P", `C:\none`, "A", words(r, 3000), "B", words(r, 3000))
	}},
	{"a text for a large automaton", func(r *rand.Rand) string {
		return object("R", strings.Map(func(c rune) rune { return 'a' + c%2 }, noise(r, 20<<10)))
	}},
	{"a long log source", func(r *rand.Rand) string {
		return object("C", "fine", "product", noise(r, 100<<10), "category", noise(r, 100<<10))
	}},
	{"a long key of a group", func(r *rand.Rand) string { return object("G", "g"+noise(r, 100<<10), "H", noise(r, 100<<10)) }},
	{"an event from the far future", func(r *rand.Rand) string {
		return object("G", "g"+strconv.Itoa(r.IntN(1000)), "timestamp", strconv.Itoa(4_000_000_000+r.IntN(1000)))
	}},
	{"thousands of fields", func(r *rand.Rand) string {
		fields := make([]any, 0, 20_000)
		for range 10_000 {
			fields = append(fields, noise(r, 8), 1)
		}
		return object(fields...)
	}},
	{"deep objects", func(r *rand.Rand) string {
		return strings.Repeat(`{"a":[`, 20_000) + strconv.Itoa(r.IntN(9)) + strings.Repeat(`]}`, 20_000)
	}},
	{"half a million events", func(r *rand.Rand) string { return "[" + strings.Repeat("7,", 1<<19-2) + strconv.Itoa(r.IntN(9)) + "]" }},
	{"bytes that are no text", func(r *rand.Rand) string { return "{\"C\":\"\xff\xfe" + noise(r, 1<<10) + "\x00" }},
	{"a line that is too long", func(r *rand.Rand) string { return object("C", noise(r, 3<<20)) }},
}

// hostileFiles are rule files that are meant to cost much.
var hostileFiles = map[string]func() string{
	"many dashes": func() string {
		return "title: Dashes\ndetection: {s: {C|windash|base64offset|contains: '" + strings.Repeat(" -a", 4) + "'}, condition: s}\n"
	},
	"a large pattern": func() string {
		return "title: Large\ndetection: {s: {C|re: '(a{31}){31}(b|c){1,30}'}, condition: s}\n"
	},
	"one selection, thousands of times": func() string {
		return "title: Often\ndetection:\n  s: {C: none}\n  condition: s" + strings.Repeat(" or s", 12_000) + "\n"
	},
	"control characters": func() string { return "title: \"\\e[2J\"\ndetection: {s: {C|\x1b[31m: 1}, condition: s}\n" },
	"overlays": func() string {
		return "action: global\ntitle: Over\ndetection: {s: {C: [" + strings.Repeat("none, ", 2000) + "none]}, condition: s}\n" +
			strings.Repeat("---\nlevel: low\n", 2000)
	},
}

// object is a JSON object of the pairs of names and values.
func object(pairs ...any) string {
	var b bytes.Buffer
	for i := 0; i < len(pairs); i += 2 {
		if value, err := json.Marshal(pairs[i+1]); err == nil {
			fmt.Fprintf(&b, ",%q:%s", pairs[i], value)
		}
	}
	return "{" + b.String()[1:] + "}"
}

func noise(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(r.IntN(26))
	}
	return string(b)
}

func words(r *rand.Rand, n int) (out []string) {
	for range n {
		out = append(out, noise(r, 12))
	}
	return out
}

func numbers(r *rand.Rand, n int) (out []int) {
	for range n {
		out = append(out, r.Int())
	}
	return out
}

// The daemon with a memory limit, under ordinary load and everything that events,
// rule files and clients can do to it. SLUICE_HOSTILE is for how long; without it
// the mix is short, and nothing is said about times.
func TestOrdinaryEventsDoNotNoticeHostileOnes(t *testing.T) {
	span, timed := 10*time.Second, false
	if text := os.Getenv("SLUICE_HOSTILE"); text != "" {
		var err error
		if span, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		timed = true
	}
	dir := t.TempDir()
	write(t, dir, "rules/ordinary.yml", hostileRules())
	out := filepath.Join(dir, "out.ndjson")
	t.Setenv("GOMEMLIMIT", memoryLimit)
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+out, "--state-db", filepath.Join(dir, "state"),
		"--state-save-interval", "5", "--logsource-routing", "--no-detections=false", "--drain-timeout", "60")
	h := &hostile{daemon: d, dir: filepath.Join(dir, "rules"), counts: map[string]int{}}
	end := time.Now().Add(span)
	h.run(end)

	if restarts := h.restarts(); restarts > 0 {
		t.Errorf("%v actors were started anew, want none", restarts)
	}
	peak := d.peak()
	d.stop()
	h.checkResults(out)
	slices.Sort(h.probes)
	p99 := h.probes[len(h.probes)*99/100]
	t.Logf("%s: %d ordinary events, hostile ones %v, %d probes, 99th percentile %s, peak of memory %d MiB", span, h.ordinary, h.counts, len(h.probes), p99, peak>>20)
	if peak > residentLimit && len(buildFlags) == 0 { // the race detector needs a multiple
		t.Errorf("%d MiB of memory, the limit is %d", peak>>20, residentLimit>>20)
	}
	if timed && p99 > 100*time.Millisecond {
		t.Errorf("probes took %s at the 99th percentile, want less than 100ms", p99)
	}
}

// hostile is the mix on its way.
type hostile struct {
	*daemon
	dir      string // of rules
	ordinary int    // events answered

	mu     sync.Mutex
	counts map[string]int
	probes []time.Duration
	held   []net.Conn // half-sent requests and answers that nobody reads, the oldest first
}

func (h *hostile) note(what string) {
	h.mu.Lock()
	h.counts[what]++
	h.mu.Unlock()
}

// run drives all clients until the end.
func (h *hostile) run(end time.Time) {
	var clients sync.WaitGroup
	loop := func(pause time.Duration, do func(r *rand.Rand, round int)) {
		clients.Go(func() {
			r := rand.New(rand.NewPCG(1, 2))
			for round := 0; time.Now().Before(end) && !h.t.Failed(); round++ {
				do(r, round)
				time.Sleep(pause)
			}
		})
	}
	names := slices.Sorted(maps.Keys(hostileFiles))
	loop(5*time.Millisecond, func(*rand.Rand, int) { h.sendOrdinary() }) // a pace that the disk can hold
	loop(100*time.Millisecond, func(r *rand.Rand, round int) {
		e := hostileEvents[round%len(hostileEvents)]
		// Every other line is not waited for.
		h.post("/api/v1/events?commit="+strconv.FormatBool(round/len(hostileEvents)%2 == 0), e.line(r))
		h.note(e.name)
	})
	loop(200*time.Millisecond, func(*rand.Rand, int) { h.halfABody(); h.note("half a body") })
	loop(200*time.Millisecond, func(*rand.Rand, int) { h.unread(); h.note("an answer that nobody reads") })
	loop(50*time.Millisecond, func(*rand.Rand, int) { h.probe() })
	loop(time.Second, func(r *rand.Rand, round int) {
		name := names[round%len(names)]
		replace(h.t, h.dir, "hostile.yml", hostileFiles[name]())
		h.post("/api/v1/reload", "")
		h.note("rules: " + name)
	})
	clients.Wait()
	for _, c := range h.held {
		_ = c.Close()
	}
}

// maxHeld is how many connections the mix keeps open without reading or writing.
const maxHeld = 200

// hold dials, writes a part of a request and leaves it at that.
func (h *hostile) hold(request string) {
	c, err := net.Dial("tcp", h.addr)
	if err == nil {
		_, err = io.WriteString(c, request)
	}
	if err != nil {
		h.t.Error(err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = append(h.held, c)
	if len(h.held) > maxHeld {
		_ = h.held[0].Close()
		h.held = h.held[1:]
	}
}

func (h *hostile) halfABody() {
	h.hold("POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{\"C\":")
}

func (h *hostile) unread() {
	h.hold("GET /api/v1/correlations/state?include_entries=true HTTP/1.1\r\nHost: x\r\n\r\n")
}

// client gives up late: a daemon that stands still is found by the probes.
var client = &http.Client{Timeout: patience}

// post sends a body. Hostile lines and files may be refused, but are answered.
func (h *hostile) post(path, body string) (status int, answer string) {
	resp, err := client.Post("http://"+h.addr+path, "application/x-ndjson", strings.NewReader(body))
	if err != nil {
		h.t.Errorf("POST %s: %v", path, err)
		return 0, ""
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Errorf("POST %s: %v", path, err)
	}
	return resp.StatusCode, string(raw)
}

// ordinaryLines is how many ordinary events one request has.
const ordinaryLines = 200

// sendOrdinary sends events that the rule Ordinary matches, with numbers that go on
// from request to request, and waits until their results are delivered.
func (h *hostile) sendOrdinary() {
	var body strings.Builder
	for i := range ordinaryLines {
		fmt.Fprintln(&body, event("evil "+strconv.Itoa(h.ordinary+i)))
	}
	status, answer := h.post("/api/v1/events?commit=true", body.String())
	if want := fmt.Sprintf(`{"accepted":%d}`, ordinaryLines); status != 200 || strings.TrimSpace(answer) != want {
		h.t.Errorf("ordinary events: %d %s, want 200 %s", status, answer, want)
	}
	h.ordinary += ordinaryLines
}

func (h *hostile) probe() {
	begin := time.Now()
	resp, err := client.Get("http://" + h.addr + "/healthz")
	if err != nil {
		h.t.Errorf("probe: %v", err)
		return
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 200 {
		h.t.Errorf("probe: %s", resp.Status)
	}
	h.mu.Lock()
	h.probes = append(h.probes, time.Since(begin))
	h.mu.Unlock()
}

// restarts is how often actors were started anew.
func (h *hostile) restarts() (n float64) {
	for line := range strings.Lines(h.get("/metrics").body) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, "svc_actor_restarts_total{") {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				h.t.Fatal(err)
			}
			n += v
		}
	}
	return n
}

// checkResults wants each ordinary event's result once, in order.
func (h *hostile) checkResults(path string) {
	f, err := os.Open(path)
	if err != nil {
		h.t.Fatal(err)
	}
	defer f.Close()
	next := 0
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		if !strings.HasPrefix(line, `{"rule_title":"Ordinary"`) {
			continue
		}
		if want := resultLine("Ordinary", "evil "+strconv.Itoa(next)); strings.TrimSuffix(line, "\n") != want {
			h.t.Fatalf("result %d of ordinary events is\n%swant\n%s", next, line, want)
		}
		next++
	}
	if next != h.ordinary {
		h.t.Errorf("%d results of ordinary events, want %d", next, h.ordinary)
	}
}
