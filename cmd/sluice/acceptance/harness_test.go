package acceptance

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/sluicehq/sluice/cmd/sluice/command" // so that cached outcomes are those of this code
	"github.com/sluicehq/sluice/http/openapi/openapitest"
	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
	"github.com/sluicehq/sluice/internal/logtest"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

// binary is the program under test, built once for all tests.
var binary string

// root is the top of the repository.
var root = filepath.Join("..", "..", "..")

func TestMain(m *testing.M) {
	natstest.Child()
	kafkatest.Child()
	// Tests that run in parallel mostly wait for their daemons. -parallel says it otherwise.
	atOnce := flag.Lookup("test.parallel")
	if err := atOnce.Value.Set(strconv.Itoa(max(4, runtime.GOMAXPROCS(0)))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// A program that is watched for races would sleep for a second before it ends.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "sluice-acceptance-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "sluice")
	build := exec.Command("go", append(append([]string{"build"}, buildFlags...), "-o", binary, "github.com/sluicehq/sluice/cmd/sluice")...)
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, "build sluice:", err)
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// patience bounds every wait; nothing is expected to take so long, however busy
// the machine.
const patience = 2 * time.Minute

// daemon is a running sluice.
type daemon struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout output
	stderr *capture
	addr   string
	tls    *tls.Config // of clients; nil for plaintext
	done   chan struct{}
	code   int
}

// capture collects what a process writes.
type capture struct{ logtest.Buffer }

// lines are the whole lines written so far.
func (c *capture) lines() []string { return wholeLines(c.String()) }

// output names the file a process writes to. Unlike a pipe, which somebody has to
// read first, it holds what has been written the moment it has been written.
type output string

// String is everything written so far.
func (o output) String() string {
	raw, err := os.ReadFile(string(o))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func (o output) lines() []string { return wholeLines(o.String()) }

func wholeLines(s string) []string {
	i := strings.LastIndexByte(s, '\n')
	if i < 0 {
		return nil
	}
	return strings.Split(s[:i], "\n")
}

// command prepares sluice in an empty home and working directory, so that no
// configuration of this machine plays a part.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = clean(cmd.Dir)
	return cmd
}

// clean are the variables of a program whose home is a directory.
func clean(home string) []string {
	return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TZ=UTC", "GOMEMLIMIT=" + os.Getenv("GOMEMLIMIT"), "GORACE=" + os.Getenv("GORACE")}
}

// outcome is how a command ended.
type outcome struct {
	code           int
	stdout, stderr string
}

// sluice runs a command to its end.
func sluice(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	cmd := command(t, args...)
	return finish(t, cmd, stdin)
}

func finish(t *testing.T, cmd *exec.Cmd, stdin string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// start runs a daemon on a port of its own and waits until it serves. Arguments
// that name an address keep it.
func start(t *testing.T, args ...string) *daemon {
	t.Helper()
	return startIn(t, t.TempDir(), args...)
}

// startIn is start in a directory that relative paths are relative to.
func startIn(t *testing.T, dir string, args ...string) *daemon {
	t.Helper()
	d := launchIn(t, dir, args...)
	d.awaitLog("API server listening")
	return d
}

// launch runs a daemon without waiting for more than its address.
func launch(t *testing.T, args ...string) *daemon {
	t.Helper()
	return launchIn(t, t.TempDir(), args...)
}

func launchIn(t *testing.T, dir string, args ...string) *daemon {
	t.Helper()
	return launchWith(t, dir, nil, args...)
}

// launchWith is launchIn with further variables.
func launchWith(t *testing.T, dir string, env []string, args ...string) *daemon {
	t.Helper()
	all := append([]string{"engine", "daemon"}, args...)
	if !strings.Contains(strings.Join(args, " "), "--api-addr") {
		all = append(all, "--api-addr", "127.0.0.1:0")
	}
	cmd := command(t, all...)
	cmd.Env = append(cmd.Env, env...)
	return launchCommand(t, dir, cmd)
}

// launchCommand is launchIn for a command that becomes a daemon.
func launchCommand(t *testing.T, dir string, cmd *exec.Cmd) *daemon {
	t.Helper()
	d := &daemon{t: t, cmd: cmd, stdout: output(filepath.Join(t.TempDir(), "stdout")), stderr: &capture{}, done: make(chan struct{})}
	out, err := os.Create(string(d.stdout))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close() // the process has its own
	d.cmd.Dir, d.cmd.Stdout, d.cmd.Stderr = dir, out, d.stderr
	if d.stdin, err = d.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = d.cmd.Wait()
		d.code = d.cmd.ProcessState.ExitCode()
		close(d.done)
	}()
	t.Cleanup(func() {
		select {
		case <-d.done:
		default:
			_ = d.cmd.Process.Kill()
			<-d.done
		}
		if t.Failed() {
			t.Logf("log of the daemon:\n%s", d.stderr)
		}
	})
	d.addr = d.awaitLog("probes listening")["addr"].(string)
	return d
}

// awaitLog waits for a log line whose message contains text and returns its
// fields.
func (d *daemon) awaitLog(text string) map[string]any {
	d.t.Helper()
	var fields map[string]any
	d.await("log line "+strconv.Quote(text), func() bool {
		fields = d.logged(text)
		return fields != nil
	})
	return fields
}

func (d *daemon) logged(text string) map[string]any {
	for _, line := range d.stderr.lines() {
		var entry struct {
			Fields map[string]any `json:"fields"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil {
			if m, _ := entry.Fields["message"].(string); strings.Contains(m, text) {
				return entry.Fields
			}
		} else if _, rest, ok := strings.Cut(line, ": "+text); ok { // a log of text
			fields := map[string]any{"message": text}
			for pair := range strings.FieldsSeq(rest) {
				name, value, _ := strings.Cut(pair, "=")
				fields[name] = value
			}
			return fields
		}
	}
	return nil
}

// await polls until ok holds, the daemon is gone or patience is at its end.
func (d *daemon) await(what string, ok func() bool) {
	d.t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		select {
		case <-d.done:
			if ok() {
				return
			}
			d.t.Fatalf("%s did not come; the daemon ended with code %d:\n%s", what, d.code, d.stderr)
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("%s did not come within %s", what, patience)
		}
	}
}

// signal sends a signal and wait returns the exit code.
func (d *daemon) signal(s syscall.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		d.t.Fatal(err)
	}
}

func (d *daemon) wait() int {
	d.t.Helper()
	select {
	case <-d.done:
		return d.code
	case <-time.After(patience):
		d.t.Fatalf("the daemon did not end within %s", patience)
		return -1
	}
}

// stop ends the daemon with SIGTERM and fails unless it exits 0.
func (d *daemon) stop() {
	d.t.Helper()
	d.signal(syscall.SIGTERM)
	if code := d.wait(); code != 0 {
		d.t.Fatalf("exit code %d, want 0:\n%s", code, d.stderr)
	}
}

// answer is a response that was read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// json decodes the body into a map.
func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(a.body), &m); err != nil {
		t.Fatalf("body %q: %v", a.body, err)
	}
	return m
}

func (d *daemon) do(method, path, body string, headers ...string) answer {
	d.t.Helper()
	scheme := "http"
	if d.tls != nil {
		scheme = "https"
	}
	req, err := http.NewRequest(method, scheme+"://"+d.addr+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Timeout: patience + 10*time.Second}
	if d.tls != nil {
		client.Transport = &http.Transport{TLSClientConfig: d.tls.Clone(), ForceAttemptHTTP2: true}
	}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	d.compare(openapitest.Answer{Method: method, Target: path, Status: resp.StatusCode, Header: resp.Header, Body: raw})
	return answer{resp.StatusCode, resp.Header, string(raw)}
}

func (d *daemon) get(path string) answer { d.t.Helper(); return d.do("GET", path, "") }

// push posts lines and fails unless all are accepted.
func (d *daemon) push(lines ...string) {
	d.t.Helper()
	a := d.do("POST", "/api/v1/events?commit=true", strings.Join(lines, "\n"))
	if want := fmt.Sprintf(`{"accepted":%d}`, len(lines)); a.status != 200 || strings.TrimSpace(a.body) != want {
		d.t.Fatalf("push: %d %s, want 200 %s", a.status, a.body, want)
	}
}

// metric returns the value of a series as /metrics writes it.
func (d *daemon) metric(series string) float64 {
	d.t.Helper()
	v, ok := d.findMetric(series)
	if !ok {
		d.t.Fatalf("no series %s", series)
	}
	return v
}

func (d *daemon) findMetric(series string) (float64, bool) {
	d.t.Helper()
	scan := bufio.NewScanner(strings.NewReader(d.get("/metrics").body))
	for scan.Scan() {
		if rest, ok := strings.CutPrefix(scan.Text(), series+" "); ok {
			v, err := strconv.ParseFloat(rest, 64)
			if err != nil {
				d.t.Fatalf("series %s: %v", series, err)
			}
			return v, true
		}
	}
	return 0, false
}

// write makes a file below dir, directories included.
func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// replace puts content in the place of a file at once, as editors do: whoever
// watches it sees one change, and never half of it.
func replace(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.Rename(write(t, t.TempDir(), filepath.Base(name), content), filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// rule is a rule that matches events whose field C contains a word.
func rule(title, word string) string {
	return fmt.Sprintf("title: %s\nid: id-%s\nlevel: high\ndetection:\n  sel:\n    C|contains: %s\n  condition: sel\n", title, title, word)
}

// resultLine is what that rule says about an event.
func resultLine(title, value string) string {
	return fmt.Sprintf(`{"rule_title":"%s","rule_id":"id-%s","level":"high","tags":[],"matched_selections":["sel"],"matched_fields":[{"field":"C","value":"%s"}]}`, title, title, value)
}

func event(value string) string { return fmt.Sprintf(`{"C":"%s"}`, value) }
