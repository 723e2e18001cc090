package acceptance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A fence is a fenced block of a page. Blocks of sh are run; a block of json or
// text right behind one is what it must print. Blocks of "sh release" and "sh image" are
// run by the tests of releases and images, which have more at hand. "json daemon" is what
// the daemon prints next, "text log" what it logs: "rules loaded ... rejected=0 ..." is a
// line with this message and this member.
type fence struct {
	page, info string
	line       int
	text       string
}

func (f fence) String() string { return fmt.Sprintf("%s:%d", f.page, f.line) }

func fences(t *testing.T, page string) []fence {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	var out []fence
	inside := false
	for i, line := range strings.Split(string(raw), "\n") {
		info, mark := strings.CutPrefix(line, "```")
		switch {
		case mark && !inside:
			inside = true
			out = append(out, fence{page: page, info: info, line: i + 1})
		case mark:
			inside = false
		case inside:
			out[len(out)-1].text += line + "\n"
		}
	}
	if inside {
		t.Fatalf("%s: a block is left open", page)
	}
	return out
}

// Every command of these pages does what the page says.
func TestPagesTellTheTruth(t *testing.T) {
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the pages use %s: %v", tool, err)
		}
	}
	for _, page := range []string{"README.md", "docs/inputs.md", "docs/http-api.md", "docs/rules.md", "docs/public-rules.md", "docs/records.md", "docs/operations.md", "docs/webhooks.md", "docs/alerts.md", "docs/sources.md", "docs/deployment.md", "docs/security.md"} {
		t.Run(page, func(t *testing.T) {
			r := newReader(t)
			all := fences(t, page)
			for i, f := range all {
				switch f.info {
				case "json daemon":
					compare(t, f, r.printed(f))
				case "text log":
					r.logged(f)
				}
				if f.info != "sh" {
					continue
				}
				got := r.follow(f)
				if i+1 < len(all) && (all[i+1].info == "json" || all[i+1].info == "text") {
					compare(t, all[i+1], got)
				}
			}
		})
	}
}

// What pages name is there: series, flags, and the files and headings links lead to.
func TestPagesNameWhatExists(t *testing.T) {
	var flags strings.Builder
	for _, args := range [][]string{
		{"engine", "daemon"},
		{"engine", "eval"},
		{"engine", "status"},
		{"engine", "rules"},
		{"engine", "log-level"},
		{"rule", "validate"},
		{"rule", "migrate-sources"},
		{"config", "validate"},
		{"pipeline", "diff"},
		{"config", "reload"},
		{"config", "gen-cert"},
		{"dlq", "replay"},
		{"silence", "add"},
		{"silence", "extend"},
		{"incidents", "export"},
		{"pipeline", "resolve"},
	} {
		flags.WriteString(sluice(t, "", append(args, "--help")...).stdout)
	}
	series, err := os.ReadFile(filepath.Join(root, "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, generated, _ := strings.Cut(string(series), generatedBegin)
	for _, page := range pages(t) {
		raw, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		written, rest, _ := strings.Cut(string(raw), generatedBegin)
		_, after, _ := strings.Cut(rest, generatedEnd)
		for _, name := range mentionedFlag.FindAllString(outsideFences(written+after), -1) {
			if !regexp.MustCompile(regexp.QuoteMeta(name) + `\b`).MatchString(flags.String()) {
				t.Errorf("%s: no command has a flag %s", page, name)
			}
		}
		for _, name := range mentionedSeries.FindAllString(string(raw), -1) {
			if !strings.Contains(generated, "`"+name+"`") {
				t.Errorf("%s: there is no series %s", page, name)
			}
		}
		for _, m := range link.FindAllStringSubmatch(string(raw), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			path := filepath.Join(root, filepath.Dir(page), target)
			if target == "" {
				path = filepath.Join(root, page)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: a link leads nowhere: %v", page, err)
			} else if anchor != "" && !slices.Contains(anchors(t, path), anchor) {
				t.Errorf("%s: the link %s leads to no heading", page, m[1])
			}
		}
	}
}

var (
	mentionedFlag   = regexp.MustCompile(`--[a-z][a-z-]+`)
	mentionedSeries = regexp.MustCompile(`svc_[a-z_]+`)
	link            = regexp.MustCompile(`\]\(([^):]+)\)`) // inside the repository
	notInAnchors    = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are what links to the headings of a page end with.
func anchors(t *testing.T, path string) (all []string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(outsideFences(string(raw))) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			name := notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			all = append(all, strings.ReplaceAll(name, " ", "-"))
		}
	}
	return all
}

func pages(t *testing.T) []string {
	t.Helper()
	out := []string{"README.md", "CHANGELOG.md"}
	for _, pattern := range []string{"docs/*.md", "docs/adr/*.md"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			rel, err := filepath.Rel(root, name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// outsideFences leaves out what is run anyway.
func outsideFences(page string) string {
	var b strings.Builder
	for i, part := range strings.Split(page, "```") {
		if i%2 == 0 {
			b.WriteString(part)
		}
	}
	return b.String()
}

// reader follows a page in a directory that looks like a clone after make build.
type reader struct {
	t      *testing.T
	dir    string
	env    []string // what blocks have exported
	daemon *daemon
	port   string // instead of documentedPort
	seen   int    // lines that the daemon has printed and the page has told
}

func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{t: t, dir: t.TempDir(), port: freePort(t)}
	if err := os.Mkdir(filepath.Join(r.dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(r.dir, "bin", "sluice")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(r.dir, "examples"), os.DirFS(filepath.Join(root, "examples"))); err != nil {
		t.Fatal(err)
	}
	return r
}

// freePort is a port that nobody has, of UDP and of TCP. It lies below those that systems give
// to whoever asks for any, so that nobody gets it meanwhile.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(10_000 + rand.IntN(20_000))
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		_ = l.Close()
		if u, err := net.ListenPacket("udp", l.Addr().String()); err == nil {
			_ = u.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// documented is the address the pages use; the reader's daemon has another.
const documented = "127.0.0.1:9090"

// documentedPort is the one of the pages for syslog; the reader's daemon has another.
const documentedPort = "5514"

// follow runs a block and returns what it printed. Targets of make are run
// elsewhere, and a daemon goes on behind the blocks that follow.
func (r *reader) follow(f fence) string {
	r.t.Helper()
	script := strings.ReplaceAll(f.text, documentedPort, r.port)
	if rest, ok := strings.CutPrefix(script, "make "); ok {
		target, rest, _ := strings.Cut(rest, "\n")
		mustHaveTarget(r.t, f, target)
		script = rest
	}
	if args, ok := strings.CutPrefix(script, "bin/sluice engine daemon "); ok && !strings.ContainsAny(args, "<|") {
		r.serve(strings.Fields(strings.ReplaceAll(args, "\\\n", " ")))
		return ""
	}
	if strings.HasPrefix(script, "export ") {
		for line := range strings.Lines(script) {
			r.export(f, line)
		}
		return ""
	}
	if r.daemon != nil {
		script = strings.ReplaceAll(script, documented, r.daemon.addr)
	}
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = r.dir
	cmd.Env = append(clean(r.dir), r.env...)
	got := finish(r.t, cmd, "")
	if got.code != 0 {
		r.t.Errorf("%s: exit code %d\n%s%s", f, got.code, got.stdout, got.stderr)
	}
	return got.stdout
}

// export keeps a variable for the blocks that follow, and for their daemons.
func (r *reader) export(f fence, line string) {
	r.t.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(line, "export "), "=")
	cmd := exec.Command("sh", "-e", "-c", line+`printf %s "$`+name+`"`)
	cmd.Dir, cmd.Env = r.dir, clean(r.dir)
	got := finish(r.t, cmd, "")
	if got.code != 0 || got.stdout == "" {
		r.t.Fatalf("%s: exit code %d\n%s", f, got.code, got.stderr)
	}
	r.env = append(r.env, name+"="+got.stdout)
}

func (r *reader) serve(args []string) {
	r.t.Helper()
	if r.daemon != nil {
		r.daemon.stop()
	}
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "$PWD", r.dir)
		if a == documented {
			args[i] = "127.0.0.1:0"
		}
	}
	r.daemon, r.seen = launchWith(r.t, r.dir, r.env, args...), 0
	r.daemon.awaitLog("API server listening")
}

// printed waits for as many further lines of the daemon as the page tells.
func (r *reader) printed(f fence) string {
	r.t.Helper()
	if r.daemon == nil {
		r.t.Fatalf("%s: no daemon runs", f)
	}
	begin := r.seen
	r.seen += strings.Count(f.text, "\n")
	return strings.Join(r.daemon.results(r.seen)[begin:r.seen], "\n")
}

// logged waits for the lines of the log that the page tells.
func (r *reader) logged(f fence) {
	r.t.Helper()
	if r.daemon == nil {
		r.t.Fatalf("%s: no daemon runs", f)
	}
	for line := range strings.Lines(f.text) {
		message, members, _ := strings.Cut(strings.TrimSpace(line), " "+more)
		fields := r.daemon.awaitLog(message)
		for member := range strings.FieldsSeq(members) {
			if name, value, ok := strings.Cut(member, "="); ok && fmt.Sprint(fields[name]) != value {
				r.t.Errorf("%s: %s: %s is %v, want %s", f, message, name, fields[name], value)
			}
		}
	}
}

func mustHaveTarget(t *testing.T, f fence, target string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), "\n"+target+":") {
		t.Errorf("%s: the Makefile has no target %q", f, target)
	}
}

// compare fails unless got is what the page promises. In JSON, numbers and times
// may differ in value, and "..." stands for further members.
func compare(t *testing.T, want fence, got string) {
	t.Helper()
	if want.info == "text" {
		if strings.TrimSpace(got) != strings.TrimSpace(want.text) {
			t.Errorf("%s: got\n%s\nwant\n%s", want, got, want.text)
		}
		return
	}
	wants, gots := values(t, want.text), values(t, got)
	if len(wants) != len(gots) {
		t.Fatalf("%s: got %d values, want %d\n%s", want, len(gots), len(wants), got)
	}
	for i := range wants {
		if where, ok := alike(gots[i], wants[i]); !ok {
			t.Errorf("%s: differs at %q: got\n%s", want, where, got)
		}
	}
}

func values(t *testing.T, text string) []any {
	t.Helper()
	var out []any
	for dec := json.NewDecoder(strings.NewReader(text)); ; {
		var v any
		switch err := dec.Decode(&v); {
		case err == nil:
			out = append(out, v)
		case dec.InputOffset() >= int64(len(strings.TrimRight(text, " \n"))):
			return out
		default:
			t.Fatalf("no JSON: %v\n%s", err, text)
		}
	}
}

const more = "..."

func alike(got, want any) (where string, ok bool) {
	switch w := want.(type) {
	case float64:
		_, ok := got.(float64)
		return "", ok
	case string:
		g, ok := got.(string)
		return "", ok && (g == w || isTime(g) && isTime(w))
	case []any:
		g, ok := got.([]any)
		if n := len(w); n > 0 && w[n-1] == more {
			w = w[:n-1]
			g = g[:min(len(g), len(w))]
		}
		if !ok || len(g) != len(w) {
			return "[]", false
		}
		for i := range w {
			if where, ok := alike(g[i], w[i]); !ok {
				return fmt.Sprintf("[%d]%s", i, where), false
			}
		}
		return "", true
	case map[string]any:
		g, ok := got.(map[string]any)
		if _, open := w[more]; !ok || !open && len(g) != len(w) {
			return "{}", false
		}
		for _, k := range slices.Sorted(maps.Keys(w)) {
			if k == more {
				continue
			}
			v, present := g[k]
			if !present {
				return "." + k, false
			}
			if where, ok := alike(v, w[k]); !ok {
				return "." + k + where, false
			}
		}
		return "", true
	}
	return "", got == want
}

func isTime(s string) bool {
	_, err := time.Parse(time.RFC3339Nano, s)
	return err == nil
}
